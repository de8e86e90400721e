import { withoutUrlCredentials } from './url-credentials.ts';

/** Longer texts are cut: the expressions below see a bounded text. In characters. */
const LONGEST_TEXT = 65_536;

/** A text that is to be cut is looked at further by this much: hiding credentials makes it shorter. In characters. */
const MARGIN = 4096;

const HIDDEN = '[hidden]';

/** Names after which a secret follows, as parts of longer names too: `DB_PASSWORD`, `x-api-key`, `clientSecret`. */
const NAME = [
  '(?:pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|authorization|cookie|signature|jwt|identified by',
  '(?:api|access|account|private|shared|subscription|auth|encryption|signing|storage)[-_ ]?key',
  'sess(?:ion)?[-_ ]?id',
  '(?<![a-z])(?:pass|auth|sig|sid)(?![a-z]))[\\w.-]{0,20}',
].join('|');

/** Of the name: also in JSON within JSON. */
const CLOSING = '\\\\{0,8}["\'`]?\\]?';

/** Skips a secret that is hidden already: hidden twice, a text is the same. */
const SHOWN = `(?!\\s{0,3}\\[hidden\\])`;

/** To the quote that it began with, with as many backslashes; or an array, or an object. */
const ENCLOSED = '(?<quote>\\\\{0,8}["\'`])[^]{0,4000}?(?<!\\\\)\\k<quote>|[[{][^\\]}]{0,4000}';

/** Each with its replacement. None looks at a character more than a few thousand times. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[\s\S]{0,16384}?-----END [A-Z ]{0,40}-----|[\s\S]{0,16384})/g,
    HIDDEN,
  ],
  // ?api_key=…&page=1
  [new RegExp(`(?<=[?&][\\w.%-]{0,40})(${NAME}=)${SHOWN}[^\\s&"'<>]+`, 'gi'), `$1${HIDDEN}`],
  // DB_PASSWORD=…; in a list with semicolons also with spaces
  [
    new RegExp(
      `(${NAME}${CLOSING}(?:=(?![\\s>])|%3d))${SHOWN}(?:${ENCLOSED}|[^\\s;]+(?:[^\\r\\n;]{0,200}(?=;))?)`,
      'gi',
    ),
    `$1${HIDDEN}`,
  ],
  // Cookie: …, 'password' => …: the rest of the line
  [
    new RegExp(
      `(${NAME}${CLOSING}\\s{0,3}(?:=>|=(?!>)|:|%3a)\\s{0,3})${SHOWN}(?:${ENCLOSED}|[^\\r\\n]+)`,
      'gi',
    ),
    `$1${HIDDEN}`,
  ],
  // PASSWORD '…', --password …, <password>…</password>
  [new RegExp(`(${NAME}\\s{1,3})(?:(["'])[^\\r\\n]{3,4000}?\\2)`, 'gi'), `$1${HIDDEN}`],
  [new RegExp(`(?<=--[\\w-]{0,40})(${NAME}\\s{1,3})${SHOWN}\\S+`, 'gi'), `$1${HIDDEN}`],
  [
    new RegExp(
      `(<[\\w:-]{0,40}(?:${NAME})(?:\\s[^<>]{0,200})?>)${SHOWN}(?:(?=\\S)[^<]{1,4000}|[^<]{1,4000}(?=<))`,
      'gi',
    ),
    `$1${HIDDEN}`,
  ],
  [/\b(bearer|basic|digest|apikey|negotiate)\s{1,3}[^\s"'`<>,;]{6,}/gi, `$1 ${HIDDEN}`],
  // Of Redis, except in its own message about `AUTH <password>`.
  [/\b(AUTH\s{1,3})(?![<\s])[^\r\n]+/g, `$1${HIDDEN}`],
  [/\bAKIA[0-9A-Z]{12,}\b/g, HIDDEN],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, HIDDEN],
  [/\b(?:gh[pousr]|sk|pk|rk|xox[a-z])[_-][\w-]{16,}/g, HIDDEN],
];

/** In each text in which one of these finds a secret. Most texts are short, and have none of it. */
const SUSPECT =
  /:\/\/|pass|pwd|secret|token|credential|auth|cookie|sig|jwt|identified|key|sess|sid|bearer|basic|digest|negotiate|AKIA|eyJ|(?:gh[pousr]|[spr]k|xox[a-z])[_-]/i;

/** A text without the credentials that drivers put into their messages, and at most 65,536 characters of it. */
export function withoutCredentials(text: string): string {
  return hidden(bounded(text, LONGEST_TEXT));
}

/** The beginning of a text, without credentials: one at the end of it is hidden as if all of the text were shown. */
export function shownText(text: string, longest: number): string {
  const shown = hidden(bounded(text, longest + MARGIN));
  return shown.length <= longest ? shown : `${shown.slice(0, longest - 1)}…`;
}

/**
 * JSON for operators: credentials in its texts are hidden, of whatever they are part. `Infinity` becomes null.
 *
 * @param shown texts that are left as they are: names that the service has chosen, or texts without credentials.
 */
export function shownJson(data: unknown, shown?: Pick<ReadonlySet<string>, 'has'>): string {
  return JSON.stringify(data, (_, field: unknown) => {
    if (typeof field === 'string') return shown?.has(field) ? field : withoutCredentials(field);
    return typeof field === 'bigint' || typeof field === 'symbol' ? String(field) : field;
  });
}

function hidden(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return SECRETS.reduce(
    (shown, [secret, replacement]) => shown.replace(secret, replacement),
    withoutUrlCredentials(text),
  );
}

/** Cut between two words, where these are not too long: half a secret is not known as one. */
function bounded(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const least = longest - MARGIN / 2;
  let end = longest - 1;
  while (end > least && !/\s/.test(text.charAt(end))) end -= 1;
  return `${text.slice(0, end)}…`;
}
