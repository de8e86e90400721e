import { JSON_WEB_TOKEN, TOKENS } from './token-forms.ts';
import { HIDDEN, withoutUrlCredentials } from './url-credentials.ts';

/** Longer texts are cut: the expressions below see a bounded text. In characters. */
const LONGEST_TEXT = 65_536;

/** A text that is to be cut is looked at further by this much: hiding credentials makes it shorter. In characters. */
const MARGIN = 4096;

/** Hides more of a text in which known credentials are hidden: the option `redact`. */
export type Redact = (text: string) => string;

export const asItIs: Redact = (text) => text;

/** Names after which a secret follows, as parts of longer names too: `DB_PASSWORD`, `x-api-key`, `clientSecret`. */
const NAME = [
  '(?:pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|authorization|cookie|signature|jwt|identified by',
  '(?:api|access|account|private|shared|subscription|auth|encryption|signing|storage|functions|master|admin|deploy|consumer|license|webhook|service|hmac)[-_ ]?key',
  '(?:db|user|root|admin|smtp|mail|redis|pg|mysql)[-_]?pass(?![a-z])|code[-_]?verifier|requirepass|masterauth',
  'sess(?:ion)?[-_ ]?id',
  '(?<![a-z])(?:pass|auth|sig|sid|pw)(?![a-z]))[\\w.-]{0,20}',
].join('|');

/** Of the name: also in JSON within JSON. */
const CLOSING = '\\\\{0,8}["\'`]?\\]?';

/** Skips a secret that is hidden already: hidden twice, a text is the same. */
const SHOWN = `(?!\\s{0,3}\\[hidden\\])`;

/** To the quote that it began with, with as many backslashes; or an array, or an object. */
const ENCLOSED = '(?<quote>\\\\{0,8}["\'`])[^]{0,4000}?(?<!\\\\)\\k<quote>|[[{][^\\]}]{0,4000}';

/** Of a URL, percent-encoded once or several times. */
const percent = (code: string): string => `%(?:25){0,3}${code}`;
const SLASH = `(?:/|${percent('2f')})`;
const AT = percent('40');

/** Before a colon: words other than the name of a user. */
const NO_USER =
  '(?:mailto|sips?|acct|xmpp|npm|jsr|file|node|workspace|patch|to|from|cc|bcc|by|user|users|username|login|owner|e-?mail|mail|contact|author|tag|urn)';

/** Programs that take a password after -p, -P, -a or -w. */
const PROGRAMS = '(?:mysql|mariadb|mongo|sshpass|sqlcmd|(?:docker|podman|az) login|redis-cli|ldap)';

/** Between the name of an argument and its value, in a line or in a list. */
const NEXT = `(?:["'],?\\s{0,3}["']|\\s{1,3}["']?|=)`;

/** A secret, behind what stays of it: the first group. */
const behind = (source: string, flags: string = 'gi'): RegExp => new RegExp(source, flags);

/** Each with what stays of it as its first group. None looks at a character more than a few thousand times. */
const SECRETS: readonly RegExp[] = [
  /()-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[\s\S]{0,16384}?-----END [A-Z ]{0,40}-----|[\s\S]{0,16384})/g,
  // ?api_key=…&page=1
  behind(`(?<=[?&][\\w.%-]{0,40})(${NAME}=)${SHOWN}[^\\s&"'<>]+`),
  // DB_PASSWORD=…; in a list with semicolons also with spaces
  behind(`(${NAME}${CLOSING}(?:=(?![\\s>])|%3d))${SHOWN}(?:${ENCLOSED}|[^\\s;]+(?:[^\\r\\n;]{0,200}(?=;))?)`),
  // Cookie: …, 'password' => …: the rest of the line
  behind(`(${NAME}${CLOSING}\\s{0,3}(?:=>|=(?!>)|:|%3a)\\s{0,3})${SHOWN}(?:${ENCLOSED}|[^\\r\\n]+)`),
  // PASSWORD '…', --password …, <password>…</password>
  behind(`(${NAME}\\s{1,3})(?:(["'])[^\\r\\n]{3,4000}?\\2)`),
  behind(`(?<=--[\\w-]{0,40})(${NAME}\\s{1,3})${SHOWN}\\S+`),
  behind(`(<[\\w:-]{0,40}(?:${NAME})(?:\\s[^<>]{0,200})?>)${SHOWN}(?:(?=\\S)[^<]{1,4000}|[^<]{1,4000}(?=<))`),
  /\b((?:bearer|basic|digest|apikey|negotiate)\s)\s{0,2}[^\s"'`<>,;]{6,}/gi,
  // Of Redis, except in its own message about `AUTH <password>`.
  /\b(AUTH\s{1,3})(?![<\s])[^\r\n]+/g,
  // Of clients of Redis: { name: 'auth', args: [ 'default', '…' ] }; of MONITOR: "auth" "default" "…"
  /(\b(?:auth|hello|config|acl)\b[^[\]]{0,60}\bargs\b[^[\]\w]{0,12})\[[^\]]{1,4000}\]?/gi,
  /(\bargs\b[^[\]\w]{0,12})\[[^\]]{1,1000}\](?=[^[\]]{0,60}\b(?:auth|hello|config|acl)\b)/gi,
  /("(?:auth|requirepass|masterauth)"\s{1,3})"[^\r\n]{0,4000}/gi,
  /\b((?:requirepass|masterauth)\s{1,3}|SETUSER\s{1,3}\S{1,200}\s{1,3})(?!\[hidden\])[^\r\n]+/gi,
  // Of MySQL, and of .netrc
  /\b(identified\s{1,3}with\s{1,3}\S{1,64}\s{1,3}(?:by|as)\s{1,3})(["'])[^\r\n]{1,4000}?\2/gi,
  /(\bpassword\s{1,3}for\s{1,3}\S{1,200}\s{0,3}=\s{0,3})(["'])[^\r\n]{1,4000}?\2/gi,
  /\b(login\s{1,3}\S{1,200}\s{1,3}password\s{1,3})(?!\[hidden\])\S+/gi,
  // ?key=…, of functions ?code=…: long ones, a short one is a key of a cache
  /([?&](?:key|code)=)[\w%=+/.~-]{20,}/gi,
  // redis%3A%2F%2Fuser%3A…%40host, redis://user%3A…%40host
  behind(
    `((?::|${percent('3a')})${SLASH}{2})(?:(?!${SLASH})[^\\s"'<>&]){0,200}?(?::|${percent('3a')})(?!\\d{1,5}(?:${SLASH}|[\\s?#]|$))[^\\s"'<>&]{0,500}(?=${AT})`,
  ),
  behind(`((?::|${percent('3a')})${SLASH}{2})(?:(?!${SLASH}|${AT}|@)[^\\s"'<>&?#]){1,2000}(?=${AT})`),
  // user:…@host
  behind(
    `(?<![\\w.+%-])(?!${NO_USER}:)([\\w.+%-]{0,64}:)(?!\\[hidden\\]|[\\d:.]{1,200}@)[^\\s/"'\`<>]{3,200}(?=@(?!sha\\d)[\\w[])`,
  ),
  // curl -u user:…, docker run -u 1000:1000
  behind(
    `((?<=[\\s"'])(?:-[uUa]|--user|--proxy-user|--auth)${NEXT}?(?!\\d+:\\d+(?!\\S))[^\\s:"'/]{0,64}:)(?!\\[hidden\\]|//)(?:(?<=(["'])[^"']{0,80})[^"'\\r\\n]{1,4000}|[^\\s"']+)`,
    'g',
  ),
  // mysql -p…
  behind(
    `([\\s"']-(?:[pP]|[aw]${NEXT})(?<=\\b${PROGRAMS}[^\\r\\n]{0,200}|[\\s"']-u[^\\r\\n]{0,100})${NEXT}?)(?!\\[hidden\\]|-|\\d+:\\d+(?!\\S))[^\\s"']+`,
    'g',
  ),
  // -p… of other programs, where it looks like no word
  /(?<=\s)(-p)(?!\[hidden\])(?=[^\s]{0,64}[A-Z0-9])(?=[^\s]{0,64}[A-Za-z])[^\s"'\-:/.=]{6,}(?![:\w])/g,
  JSON_WEB_TOKEN,
];

/** In each text in which one of these finds a secret. Most texts are short, and have none of it. */
const SUSPECT = new RegExp(
  `:\\/\\/|pass|pwd|pw|secret|token|credential|auth|cookie|sig|jwt|identified|key|sess|sid|bearer|basic|digest|negotiate|verifier|setuser|hello|args|login|code=|%40|%2540|@|[\\s"']-[puaw]|--(?:user|proxy)|eyJ|${TOKENS.source}`,
  'i',
);

/** A text without the credentials that drivers put into their messages, and at most 65,536 characters of it. */
export function withoutCredentials(text: string): string {
  return hidden(bounded(text, LONGEST_TEXT));
}

/** The beginning of a text, without credentials: one at the end of it is hidden as if all of the text were shown. */
export function shownText(text: string, longest: number, redact: Redact): string {
  const shown = redact(hidden(bounded(text, longest + MARGIN)));
  return shown.length <= longest ? shown : `${shown.slice(0, longest - 1)}…`;
}

/**
 * JSON for operators: credentials in its texts are hidden, of whatever they are part. `Infinity` becomes null.
 *
 * @param shown texts that are left as they are: names that the service has chosen, or texts without credentials.
 */
export function shownJson(data: unknown, redact: Redact, shown?: Pick<ReadonlySet<string>, 'has'>): string {
  return JSON.stringify(data, (_, field: unknown) => {
    if (typeof field === 'string') return shown?.has(field) ? field : redact(withoutCredentials(field));
    return typeof field === 'bigint' || typeof field === 'symbol' ? String(field) : field;
  });
}

function hidden(text: string): string {
  if (!SUSPECT.test(text)) return text;
  const shown = SECRETS.reduce(
    (rest, secret) => rest.replace(secret, `$1${HIDDEN}`),
    withoutUrlCredentials(text),
  );
  return shown.replace(TOKENS, HIDDEN);
}

/** Cut between two words, where these are not too long: half a secret is not known as one. */
function bounded(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const least = longest - MARGIN / 2;
  let end = longest - 1;
  while (end > least && !/\s/.test(text.charAt(end))) end -= 1;
  return `${text.slice(0, end)}…`;
}
