const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const FORMS: readonly RegExp[] = /* @__PURE__ */ forms(
  '(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})',
);

function forms(time: string): RegExp[] {
  return [
    // Sun, 06 Nov 1994 08:49:37 GMT
    `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>[0-9]{2}) (?<month>[A-Z][a-z]{2}) (?<year>[0-9]{4}) ${time} GMT`,
    // Sunday, 06-Nov-94 08:49:37 GMT
    `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>[0-9]{2})-(?<month>[A-Z][a-z]{2})-(?<year>[0-9]{2}) ${time} GMT`,
    // Sun Nov  6 08:49:37 1994
    `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ 0-9][0-9]) ${time} (?<year>[0-9]{4})`,
  ].map((form) => new RegExp(`^${form}$`));
}

/** The capture groups of each form. */
type Parts = Readonly<Record<'day' | 'month' | 'year' | 'hour' | 'minute' | 'second', string>>;

/**
 * Parses an HTTP-date to epoch milliseconds; `undefined` for any other text. `Date.parse` accepts too much: it takes `0`
 * and `9999` for years.
 *
 * @param now decides the century of a two-digit year: never more than 50 years ahead.
 * @see RFC 9110 §5.6.7, all three forms
 */
export function parseHttpDate(text: string | undefined, now: number): number | undefined {
  const groups = FORMS.map((form) => form.exec(text ?? '')?.groups).find((found) => found !== undefined);
  if (groups === undefined) return undefined;
  const parts = groups as Parts;
  const day = Number(parts.day);
  const month = MONTHS.indexOf(parts.month);
  const year = fullYear(parts.year, now);
  const [hour, minute, second] = [Number(parts.hour), Number(parts.minute), Number(parts.second)];
  if (month === -1 || hour > 23 || minute > 59 || second > 60) return undefined; // 60: a leap second
  if (new Date(Date.UTC(year, month, day)).getUTCDate() !== day) return undefined; // 31 June
  return Date.UTC(year, month, day, hour, minute, second);
}

function fullYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
