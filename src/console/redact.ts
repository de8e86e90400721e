/** Longer texts are cut: no one reads them, and the expressions below see a bounded text. In characters. */
const LONGEST_TEXT = 65_536;

const HIDDEN = '[hidden]';

/** Names after which a secret follows, as parts of longer names too: `DB_PASSWORD`, `x-api-key`, `clientSecret`. */
const SECRET_NAMES =
  'pass(?:word|wd|phrase)?|pwd|secret|token|api[-_ ]?key|access[-_ ]?key|account[-_ ]?key|private[-_ ]?key|credentials?|authorization|cookie|session[-_ ]?id|signature|sig';

/** Each with its replacement. None backtracks over more than one word. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  // redis://user:password@host, also where the password has a slash or an @
  [/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'<>]{0,2000}@/gi, `$1${HIDDEN}@`],
  [/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#:"'<>]{0,200}:[^\s"'<>]{0,2000}@/gi, `$1${HIDDEN}@`],
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,16384}?(?:-----END [A-Z ]{0,40}-----|$)/g, HIDDEN],
  [/\b(bearer|basic|digest)\s+(?:[\w.~+/-]{6,}=*)/gi, `$1 ${HIDDEN}`],
  [
    new RegExp(
      `([\\w-]{0,40}(?:${SECRET_NAMES})[\\w-]{0,20}["']?\\s{0,3}[=:]\\s{0,3})(?!\\[hidden\\]|(?:bearer|basic|digest)\\s)("[^"]{0,4000}"?|'[^']{0,4000}'?|[^\\s,;&)}\\]]{1,4000})`,
      'gi',
    ),
    `$1${HIDDEN}`,
  ],
  [/\bAKIA[0-9A-Z]{12,}\b/g, HIDDEN],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, HIDDEN],
  [/\b(?:gh[pousr]|sk|pk|rk|xox[a-z])[_-][\w-]{16,}/g, HIDDEN],
];

/** A text without the credentials that drivers put into their messages, and at most 65,536 characters of it. */
export function withoutCredentials(text: string): string {
  const cut = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
  return SECRETS.reduce((shown, [secret, replacement]) => shown.replace(secret, replacement), cut);
}

/** JSON for operators: credentials in its texts are hidden, of whatever they are part. `Infinity` becomes null. */
export function shownJson(data: unknown): string {
  return JSON.stringify(data, (_, field: unknown) => {
    if (typeof field === 'string') return withoutCredentials(field);
    return typeof field === 'bigint' || typeof field === 'symbol' ? String(field) : field;
  });
}
