import { OptionChecks, ownOptions } from '../option-checks.ts';
import { checkByteLimit, MAX_BYTES } from './byte-limit.ts';
import type { HttpTarget } from './http-request.ts';
import type { HttpFetch } from './http-response.ts';
import { optionTypes } from './option-types.ts';
import { checkParse, type Parse, type ParseOptions } from './parse.ts';
import { checkSourceName } from './source.ts';
import { targetName, urlProblem } from './source-url.ts';

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
export interface ResolvedHttpOptions<T> {
  readonly parse: Parse<T>;
  readonly idOf: ParseOptions<T>['idOf'];
  readonly maxBytes: number;
  readonly headers: Headers;
  readonly statuses: readonly number[];
  readonly fetch: HttpFetch;
  readonly source: string | undefined;
}

/** @throws {TicklessError} `OPTION`; the message shows no credentials. */
export function resolveHttpOptions<T>(
  target: HttpTarget,
  given: HttpSourceOptions<T>,
): ResolvedHttpOptions<T> {
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
