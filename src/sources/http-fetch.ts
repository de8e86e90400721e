import { failure } from './http-errors.ts';
import type { HttpRequest } from './http-request.ts';
import { discard, type HttpAnswer, type HttpFetch, type HttpResponse, redirectOf } from './http-response.ts';
import { urlName } from './source-url.ts';

const MOST_REDIRECTS = 20; // as in the standard of fetch

/** Those that are sent on to another host: none that may be a credential, whatever its name is. */
const SENT_ON: readonly string[] = ['accept', 'accept-encoding', 'accept-language', 'user-agent'];

/**
 * Sends a request and follows its redirects, as the platform's `fetch` does it, with two differences: never to another scheme,
 * and to another host without all headers that may be credentials, `X-Api-Key` too.
 *
 * @param conditionsFor the conditions for a URL.
 * @throws {Error} which names the source.
 */
export async function fetchFollowing(
  fetch: HttpFetch,
  request: HttpRequest,
  conditionsFor: (url: URL) => Promise<Readonly<Record<string, string>>>,
): Promise<HttpAnswer> {
  let { url, method, headers } = request;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const conditions = await conditionsFor(url);
    const response = await fetchOnce(
      fetch,
      { ...request, url, method },
      { ...conditions, ...Object.fromEntries(headers) },
    );
    const next = request.followsRedirects ? redirectOf(response, url) : undefined;
    if (next === undefined) return { response, url, isConditional: Object.keys(conditions).length > 0 };
    await discard(response);
    if (next.protocol !== url.protocol) {
      throw new Error(`${urlName(url)} redirects to another scheme, which is not followed: ${urlName(next)}`);
    }
    if (next.origin !== url.origin) headers = sentOn(headers);
    method = methodAfter(response, method);
    url = next;
  }
  throw new Error(`${urlName(request.url)} redirects more than ${MOST_REDIRECTS} times`);
}

async function fetchOnce(
  fetch: HttpFetch,
  { url, method, body, signal }: HttpRequest,
  headers: Record<string, string>,
): Promise<HttpResponse> {
  try {
    return await fetch(url.href, {
      method,
      headers,
      redirect: 'manual',
      signal,
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    signal.throwIfAborted();
    throw failure(`${urlName(url)} gave no answer`, error, url);
  }
}

/** "303 See Other" is asked for by GET, and what a POST was redirected to. */
function methodAfter({ status }: HttpResponse, method: string): string {
  const isGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST';
  return isGet ? 'GET' : method;
}

function sentOn(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => SENT_ON.includes(name)));
}
