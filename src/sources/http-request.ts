import type { SourceContext } from './source.ts';
import { urlProblem, withoutSecrets } from './source-url.ts';

/**
 * The target of {@link httpSource}: a URL, or a function that returns one or a `Request` at each load, such as one with a token that
 * expires. Of a `Request` the URL, method, headers, body, `redirect`, `integrity` and `signal` count.
 */
export type HttpTarget =
  | string
  | URL
  | ((context: SourceContext) => string | URL | Request | PromiseLike<string | URL | Request>);

/** One request, before its conditions. */
export interface HttpRequest {
  /** Without credentials and fragment. */
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: ArrayBuffer | undefined;
  readonly followsRedirects: boolean;
  /** Not for `fetch`: that would read a whole body, however long, and take a "304 Not Modified" and a redirect for forged ones. */
  readonly integrity: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * The request of one load. Credentials of its URL become a header, as other HTTP clients do it.
 *
 * @param extra headers beside those of a `Request`, which win.
 */
export async function requestOf(
  target: HttpTarget,
  extra: Headers,
  context: SourceContext,
): Promise<HttpRequest> {
  const given = typeof target === 'function' ? await target(context) : target;
  const request = isRequest(given) ? given : undefined;
  const address = request?.url ?? given;
  const problem = urlProblem(address);
  if (problem !== undefined) throw new TypeError(`the function of httpSource returned ${problem}`);
  const url = new URL(address as string);
  const headers = new Headers(extra);
  request?.headers.forEach((value, name) => {
    headers.set(name, value);
  });
  const credentials = basicCredentials(url);
  if (credentials !== undefined && !headers.has('authorization')) headers.set('authorization', credentials);
  const body = request?.body ? await request.arrayBuffer() : undefined;
  return {
    url: withoutSecrets(url),
    method: request?.method ?? 'GET',
    headers,
    body,
    followsRedirects: body === undefined && (request?.redirect ?? 'follow') === 'follow',
    integrity: request?.integrity || undefined,
    signal: request === undefined ? context.signal : AbortSignal.any([context.signal, request.signal]),
  };
}

function isRequest(given: unknown): given is Request {
  const { url, method, headers } = (given ?? {}) as Partial<Request>;
  return typeof url === 'string' && typeof method === 'string' && typeof headers?.forEach === 'function';
}

function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const bytes = `${username}:${password}`.replace(/%[\da-f]{2}/gi, (encoded) =>
    String.fromCharCode(Number.parseInt(encoded.slice(1), 16)),
  ); // a lone % is itself
  return `Basic ${btoa(bytes)}`;
}
