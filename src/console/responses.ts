import { type Redact, shownJson } from './redact.ts';

/** Nothing of another origin is loaded, no script that is not the asset runs, and no site may frame the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SECURITY = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** Every response of the console has these headers; it may only add to them. */
export function respond(
  status: number,
  type: string,
  body: BodyInit | null,
  more: Readonly<Record<string, string>> = {},
): Response {
  const headers = { 'cache-control': 'no-store', ...more, 'content-type': type, ...SECURITY };
  return new Response(body, { status, headers });
}

/** Data for operators. @param shown texts in which no credentials are looked for. */
export function json(
  data: unknown,
  redact: Redact,
  {
    status = 200,
    more,
    shown,
  }: {
    readonly status?: number;
    readonly more?: Readonly<Record<string, string>> | undefined;
    readonly shown?: ReadonlySet<string>;
  } = {},
): Response {
  return jsonText(shownJson(data, redact, shown), status, more);
}

/** Data that is JSON already, without credentials. */
export function jsonText(
  text: string,
  status: number = 200,
  more?: Readonly<Record<string, string>>,
): Response {
  return respond(status, 'application/json; charset=utf-8', text, more);
}

/** The codes of errors, each with its status. */
const STATUS = {
  forbidden: 403,
  'cross-site': 403,
  'read-only': 403,
  token: 403,
  'not-found': 404,
  method: 405,
  invalid: 400,
  conflict: 409,
  'too-large': 413,
  'too-many': 429,
  failed: 502,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** An error for operators. The message has the reason and the remedy. */
export function problem(
  code: ErrorCode,
  message: string,
  redact: Redact,
  more?: Readonly<Record<string, string>>,
): Response {
  return json({ error: { code, message } }, redact, { status: STATUS[code], more });
}
