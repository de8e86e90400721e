import { withoutUrlCredentials } from './url-credentials.ts';

/** Longer texts are cut: the expressions below see a bounded text. In characters. */
const LONGEST_TEXT = 65_536;

/** A text that is to be cut is looked at further by this much: hiding credentials makes it shorter. In characters. */
const MARGIN = 4096;

export const HIDDEN = '[hidden]';

/** Hides more of a text in which known credentials are hidden: the option `redact`. */
export type Redact = (text: string) => string;

export const asItIs: Redact = (text) => text;

/** Names after which a secret follows, as parts of longer names too: `DB_PASSWORD`, `x-api-key`, `clientSecret`. */
const NAME = [
  '(?:pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|authorization|cookie|signature|jwt|identified by',
  '(?:api|access|account|private|shared|subscription|auth|encryption|signing|storage|master|functions|license|instrumentation|admin|deploy)[-_ ]?key',
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
  // user:…@host, without a scheme; not the digest of an image
  [/(?<![\w.+%/-])[\w.+-]{1,64}:(?!\/\/)(?=\S)[^\s"'`<>@/\\]{3,256}@(?!sha\d{3}:)(?=[\w[])/g, `${HIDDEN}@`],
  // curl -u user:…, --user user:…
  [/((?:^|\s)(?:-u|--(?:proxy-)?user)[\s=]{0,3}["']?[^\s:"']{0,64}:)(?!\[hidden\])[^\s"']+/g, `$1${HIDDEN}`],
  // mysql -p…, redis-cli -a …, sshpass -p …: of the clients of databases only
  [
    /(\b(?:mysql\w{0,12}|mariadb[\w-]{0,12}|mongo\w{0,12}|sshpass|redis-cli|sqlcmd|cqlsh|clickhouse-client)\b(?:[^\S\r\n]+(?!-[paP])[^\s]{1,64}){0,12}[^\S\r\n]+(?:-[pP](?:[^\S\r\n]{1,3}(?=\S))?|-a[^\S\r\n]{1,3}))(?!\[hidden\]|ort\b)["']?[^\s"']+/g,
    `$1${HIDDEN}`,
  ],
  [
    /(?<=\s)(-p)(?!\[hidden\])(?=[^\s]{0,64}[A-Z0-9])(?=[^\s]{0,64}[A-Za-z])[^\s"'\-:/.=]{6,}(?![:\w])/g,
    `$1${HIDDEN}`,
  ],
  // ioredis: { name: 'auth', args: [ 'default', '…' ] }
  [
    /((?<![a-z])auth\\{0,8}["'`]?,?\s{0,8}\\{0,8}["'`]?args\\{0,8}["'`]?:\s{0,3}\[)(?!\[hidden\])[^\]]{0,4000}/gi,
    `$1${HIDDEN}`,
  ],
  [
    /((?<![a-z])args\\{0,8}["'`]?:\s{0,3}\[)(?!\[hidden\])[^\]]{0,1000}(?=\][^\r\n{}]{0,40}\s{0,8}\\{0,8}["'`]?(?:name|command)\\{0,8}["'`]?:\s{0,3}\\{0,8}["'`]auth\b)/gi,
    `$1${HIDDEN}`,
  ],
  // Of Redis, except in its own message about `AUTH <password>`.
  [/\b(AUTH\s{1,3})(?![<\s])[^\r\n]+/g, `$1${HIDDEN}`],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b/g, HIDDEN],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, HIDDEN],
  [/\b(?:gh[pousr]|sk|pk|rk|xox[a-z]|xapp|whsec|hv[sb]|dapi)[_-][\w-]{16,}/g, HIDDEN],
  // Beginnings that providers give to their tokens, so that they are found
  [
    /\b(?:github_pat_|gl(?:pat|ptt|dt|rt|cbt|soat|ft|agent|imt)-|pypi-|shp(?:at|ca|pa|ss)_|dop_v1_|doo_v1_|dckr_pat_|sq0(?:atp|csp)-|PMAK-|lin_api_|figd_|nvapi-|r8_|gsk_|xai-|sbp_|pscale_(?:tkn|pw|oauth)_|glc_|glsa_|ATATT3|ATCTT3|EAACEdEose0cBA|NRAK-|dp\.(?:pt|st|ct)\.|sntrys_|sntryu_|rubygems_|tfp_|hvs\.|hvb\.|A3T[A-Z0-9])[\w.=-]{6,}/g,
    HIDDEN,
  ],
  [/\b(?:npm|hf)_[A-Za-z0-9]{16,}/g, HIDDEN],
  [/\bSG\.[\w-]{6,}(?:\.[\w-]*)?/g, HIDDEN],
  [/\bya29\.[\w.-]{6,}/g, HIDDEN],
  [/\bAIza[\w-]{6,}/g, HIDDEN],
];

/** redis%3A%2F%2Fuser%3Asecret%40host: the credentials of a URL that is part of another one, encoded once or twice. */
const ENCODED_URL = /(%(?:25)?3a(?:%(?:25)?2f){2})(?!\[hidden\])[\w.~!$'()*+,;=:%-]{1,1024}(%(?:25)?40)/gi;

/** In each text in which one of these finds a secret. Most texts are short, and have none of it. */
const SUSPECT =
  /:\/\/|pass|pwd|secret|token|credential|auth|cookie|sig|jwt|identified|key|sess|sid|bearer|basic|digest|negotiate|AKIA|ASIA|eyJ|(?:gh[pousr]|[spr]k|xox[a-z]|xapp|whsec|hv[sb]|dapi)[_-]|@|%3a|\s-[upPa]|--user|_pat_|gl[a-z]{2,5}-|npm_|pypi-|hf_|shp|_v1_|sq0|PMAK|_api_|figd_|nvapi|r8_|gsk_|xai-|sbp_|pscale|gl(?:c|sa)_|AT[AC]TT|NRAK|dp\.|sntry|rubygems|tfp_|hv[sb]\.|EAAC|A3T|SG\.|ya29|AIza/i;

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
  return SECRETS.reduce(
    (shown, [secret, replacement]) => shown.replace(secret, replacement),
    withoutUrlCredentials(text.replace(ENCODED_URL, `$1${HIDDEN}$2`)),
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
