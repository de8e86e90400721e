import { keep, loaded } from '../index.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { readBounded } from './bounded-body.ts';
import { checkByteLimit, MAX_BYTES } from './byte-limit.ts';
import { compressionOf } from './content-coding.ts';
import { conditionsOf, type HttpNotes, notesOf } from './http-conditions.ts';
import { parseError, statusError } from './http-errors.ts';
import { fetchFollowing } from './http-fetch.ts';
import { matchesIntegrity } from './http-integrity.ts';
import { type HttpTarget, requestOf } from './http-request.ts';
import { discard, type HttpAnswer, type HttpFetch } from './http-response.ts';
import { optionTypes } from './option-types.ts';
import { checkParse, type Parse, type ParseOptions, parseBody } from './parse.ts';
import { checkSourceName, fittingNotes, namedSource, ownNotes, type Source } from './source.ts';
import { targetName, urlHash, urlName, urlProblem } from './source-url.ts';

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

/** Options of {@link httpSource}. */
export interface HttpSourceOptions<T> extends ParseOptions<T> {
  /**
   * The longest body in bytes, decoded; a longer one fails the load, and is not read any further. From 1; `Infinity`: no bound.
   *
   * @default 67_108_864 (64 MiB)
   */
  readonly maxBytes?: number | undefined;
  /**
   * Sent with each request, unless the `Request` of a function has them. Without an `accept-encoding` here, a body that is not
   * `'json'` is asked for uncompressed, and refused otherwise: `fetch` of Node does not notice that a compressed one has been cut.
   *
   * @default none
   */
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  /**
   * The statuses of a response with a value; any other one fails the load. "304 Not Modified" is not among them: it keeps the value
   * in place.
   *
   * @default [200]
   */
  readonly statuses?: readonly number[] | undefined;
  /**
   * Sends the request: for a proxy, an agent or a client's certificate. Redirects are followed here, not in it.
   *
   * @default the platform's `fetch`
   */
  readonly fetch?: HttpFetch | undefined;
  /**
   * A name for a resource whose URL changes, such as a signed one: validators are then sent to each of its URLs. Shown in `meta`, so without secrets. At most 500 characters.
   *
   * @default the URL, without credentials and the values of its query
   */
  readonly source?: string | undefined;
}

const NAMES: readonly (keyof HttpSourceOptions<unknown>)[] = [
  'parse',
  'idOf',
  'maxBytes',
  'headers',
  'statuses',
  'fetch',
  'source',
];

/** {@link HttpSourceOptions}, checked. */
interface ResolvedHttpOptions<T> {
  readonly parse: Parse<T>;
  readonly idOf: ParseOptions<T>['idOf'];
  readonly maxBytes: number;
  readonly headers: Headers;
  readonly statuses: readonly number[];
  readonly fetch: HttpFetch;
  readonly source: string | undefined;
}

/** @throws {TicklessError} `OPTION`; the message shows no credentials. */
function resolveHttpOptions<T>(target: HttpTarget, given: HttpSourceOptions<T>): ResolvedHttpOptions<T> {
  const checks = new OptionChecks('httpSource');
  const isObject = typeof given === 'object' && given !== null;
  checks.that(isObject, 'options', 'must be an object', given);
  if (isObject) checks.names('', optionTypes(given), NAMES);
  const {
    parse = 'json',
    idOf,
    maxBytes = MAX_BYTES,
    headers,
    statuses = [200],
    fetch,
    source,
  } = ownOptions(isObject ? given : {});
  if (typeof target !== 'function') {
    const rule = 'must be an absolute URL of http: or https:, or a function';
    checks.that(urlProblem(target) === undefined, 'url', rule, targetName(target));
  }
  checkParse(checks, parse, idOf);
  checkByteLimit(checks, maxBytes);
  const areStatuses = Array.isArray(statuses) && statuses.length > 0 && statuses.every(isAccepted);
  checks.that(areStatuses, 'statuses', 'must be an array of statuses from 200, without 304', statuses);
  if (fetch !== undefined) checks.function('fetch', fetch);
  checkSourceName(checks, source);
  const sent = sentHeaders(headers);
  checks.that(sent !== undefined, 'headers', 'must be headers that can be sent', Object.keys(headers ?? {}));
  checks.done();
  if (parse !== 'json' && !sent?.has('accept-encoding')) sent?.set('accept-encoding', 'identity');
  return {
    parse,
    idOf,
    maxBytes,
    headers: sent as Headers,
    statuses,
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)), // the one at the time: tests replace it
    source,
  };
}

function isAccepted(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) >= 200 && (status as number) < 600 && status !== 304;
}

/** `undefined`: they are none. The error of the platform shows their values. */
function sentHeaders(headers: HttpSourceOptions<unknown>['headers'] = {}): Headers | undefined {
  try {
    return new Headers(headers as Headers);
  } catch {
    return undefined;
  }
}
