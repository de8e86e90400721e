const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec';

const TIME = '(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})';
const FORMS = /* @__PURE__ */ [
  // Sun, 06 Nov 1994 08:49:37 GMT
  `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>[0-9]{2}) (?<month>[a-z]{3}) (?<year>[0-9]{4}) ${TIME} GMT`,
  // Sunday, 06-Nov-94 08:49:37 GMT
  `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>[0-9]{2})-(?<month>[a-z]{3})-(?<year>[0-9]{2}) ${TIME} GMT`,
  // Sun Nov  6 08:49:37 1994
  `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[a-z]{3}) (?<day>[ 0-9][0-9]) ${TIME} (?<year>[0-9]{4})`,
].map((form) => new RegExp(`^${form}$`, 'i'));

/** The capture groups of each form. */
type Parts = Readonly<Record<'day' | 'month' | 'year' | 'hour' | 'minute' | 'second', string>>;

/**
 * Parses an HTTP-date to epoch milliseconds, in any case; `undefined` for any other text. `Date.parse` accepts too much: it takes `0`
 * and `9999` for years, and a date without a zone for local time.
 *
 * @param now decides the century of a two-digit year: never more than 50 years ahead.
 * @see RFC 9110 §5.6.7, all three forms
 */
export function parseHttpDate(text: string | undefined, now: number): number | undefined {
  const groups = FORMS.map((form) => form.exec(text ?? '')?.groups).find((found) => found !== undefined);
  if (groups === undefined) return undefined;
  const parts = groups as Parts;
  const day = Number(parts.day);
  const month = MONTHS.indexOf(parts.month.toLowerCase()) / 3;
  const year = fullYear(parts.year, now);
  const [hour, minute, second] = [Number(parts.hour), Number(parts.minute), Number(parts.second)];
  if (!Number.isInteger(month) || month < 0 || hour > 23 || minute > 59 || second > 60) return undefined; // 60: a leap second
  if (new Date(Date.UTC(year, month, day)).getUTCDate() !== day) return undefined; // 31 June
  return Date.UTC(year, month, day, hour, minute, second);
}

function fullYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
