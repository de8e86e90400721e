import { keep, loaded } from '../index.ts';
import { readBounded } from './bounded-body.ts';
import { compressionOf } from './content-coding.ts';
import { conditionsOf, type HttpNotes, notesOf } from './http-conditions.ts';
import { parseError, statusError } from './http-errors.ts';
import { fetchFollowing } from './http-fetch.ts';
import { matchesIntegrity } from './http-integrity.ts';
import { type HttpSourceOptions, resolveHttpOptions } from './http-options.ts';
import { type HttpTarget, requestOf } from './http-request.ts';
import { discard, type HttpAnswer } from './http-response.ts';
import { type Parse, parseBody } from './parse.ts';
import { fittingNotes, namedSource, ownNotes, type Source } from './source.ts';
import { targetName, urlHash, urlName } from './source-url.ts';

/**
 * A source over HTTP: a `load` that fetches a URL, and asks for a new edition only.
 *
 * The `ETag` and `Last-Modified` of the value in place are sent with the next request, also where that value was adopted from
 * another instance; "304 Not Modified" is `keep()`, and its validators are the next ones. `meta` has `source`, `editedAt` and these validators; `headers` are
 * there for the schedule `httpFreshness`. An error names the URL and the status, and has the pause that the source asks for.
 *
 * ```ts no-run
 * import { httpFreshness, RefreshingValue } from 'tickless';
 * import { httpSource } from 'tickless/sources';
 *
 * const prices = new RefreshingValue({
 *   name: 'prices',
 *   load: httpSource<Record<string, number>>('https://prices.example/all.json', { maxBytes: 20e6 }),
 *   schedule: httpFreshness({ atLeast: '1m' }),
 * });
 * ```
 *
 * Redirects are followed as the platform's `fetch` does it, at most 20, of requests without a body; never to another scheme, and
 * with no header that may be a credential to another host.
 *
 * @param target an absolute URL of `http:` or `https:`, or a function that returns one or a `Request` for each load. Credentials in
 *   it are sent as a header. A value is of the URL that has answered: another one is never asked with its validators.
 * @returns a source, which rejects for a status that is not accepted, a body that is too long, breaks off or can't be parsed, and
 *   with the reason of its `signal`. An error of a status has `status`, and `headers` about the pause.
 * @throws {TicklessError} `OPTION` for a wrong option.
 */
export function httpSource(
  target: HttpTarget,
  options: HttpSourceOptions<string> & { readonly parse: 'text' },
): Source<string>;
export function httpSource(
  target: HttpTarget,
  options: HttpSourceOptions<Record<string, string>[]> & { readonly parse: 'csv' },
): Source<Record<string, string>[]>;
export function httpSource<T = unknown>(target: HttpTarget, options?: HttpSourceOptions<T>): Source<T>;
export function httpSource<T>(target: HttpTarget, options: HttpSourceOptions<T> = {}): Source<T> {
  const resolved = resolveHttpOptions(target, options);
  const { fetch, headers, idOf, maxBytes, parse, source, statuses } = resolved;
  return namedSource(
    { name: source ?? (typeof target === 'function' ? 'httpSource' : String(targetName(target))), idOf },
    async (context) => {
      context.signal.throwIfAborted();
      const request = await requestOf(target, headers, context);
      const name = source ?? urlName(request.url);
      const held: HttpNotes = (request.method === 'GET' && ownNotes(context, name)) || {};
      const answer = await fetchFollowing(fetch, request, async (url) => {
        const isOfIt = source !== undefined || held.urlHash === (await urlHash(url));
        return isOfIt ? conditionsOf(held) : {};
      });
      const { response, url } = answer;
      try {
        if (response.status === 304 && answer.isConditional)
          return keep({
            meta: fittingNotes({ ...held, ...notesOf(response, Date.now()) }),
            headers: response.headers,
          });
        if (!statuses.includes(response.status)) throw statusError(answer);
        mustBeAsAsked(answer, request.headers);
        const bytes = await readBounded(answer, maxBytes, request.signal);
        const { integrity } = request;
        if (integrity !== undefined && !(await matchesIntegrity(bytes as Uint8Array<ArrayBuffer>, integrity)))
          throw new Error(`${urlName(url)} sent a body that does not match its integrity`);
        const value = await parseOf(answer, bytes, parse);
        const meta = { source: name, ...notesOf(response, Date.now()), urlHash: await urlHash(url) };
        return loaded(value, { meta: fittingNotes(meta), headers: response.headers });
      } finally {
        await discard(response);
      }
    },
  );
}

/** @throws for a compressed body where none was asked for: `fetch` of Node takes one that was cut for a whole one. */
function mustBeAsAsked({ response, url }: HttpAnswer, sent: Headers): void {
  const coding = compressionOf(response.headers.get('content-encoding'));
  if (coding === undefined || sent.get('accept-encoding') !== 'identity') return;
  const what = `${urlName(url)} is compressed (${coding}) although that was not asked for`;
  throw new Error(
    `${what}, and a part could pass for the whole; headers: { 'accept-encoding': 'gzip' } takes it`,
  );
}

async function parseOf<T>(answer: HttpAnswer, bytes: Uint8Array, parse: Parse<T>): Promise<T> {
  try {
    return await parseBody(bytes, parse);
  } catch (error) {
    throw parseError(answer, error);
  }
}
