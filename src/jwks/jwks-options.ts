import { httpFreshness, type ScheduleLike } from '../index.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { VALUE_SHARED } from '../options/resolve-options.ts';
import type { SingleSharedOptions, ValueSharedOptions } from '../options/shared-options.ts';
import type { HttpFetch } from '../sources/http-response.ts';
import type { HttpSourceOptions } from '../sources/http-source.ts';
import type { DurationLike } from '../time/duration.ts';
import { type Address, addressName, addressOf } from './issuer.ts';

/**
 * The options of {@link jwks}; none is required. Those of a `RefreshingValue` mean the same here. The defaults here win over those of
 * a `group`, also `'wait'` of `whenTooStale` and `'serve'` of `whenFailing`.
 */
export interface JwksOptions extends Omit<ValueSharedOptions & SingleSharedOptions, 'name'> {
  /** As of each value: in errors, events, log lines, and in a cluster. @default 'jwks(the issuer or URL)' */
  readonly name?: string | undefined;
  /**
   * When to load the keys next, beside the loads for unknown keys. @default while the response is fresh, but at least 1 minute
   *   and at most 1 hour; 10 minutes where it does not say
   */
  readonly schedule?: ScheduleLike | undefined;
  /**
   * How long keys are used while they can't be loaded again. As long can an attacker that keeps this service from the issuer have a
   * withdrawn key used. Directives of the response about stale use do not count. @default 1 day
   */
  readonly maxStaleness?: DurationLike | undefined;
  /** The deadline of one load, metadata included: verifications wait for it where the key is unknown. @default 10 seconds */
  readonly timeout?: DurationLike | undefined;
  /**
   * A token whose key is not among those here, or whose signature is of another key (jose), causes a load, and waits for it; from its start on no other one does for this time.
   * Tokens that come meanwhile wait for the same load, or fail at once. Over 0; `Infinity`: unknown keys cause no load. It counts
   * for each instance by itself. @default 30 seconds
   */
  readonly unknownKey?: DurationLike | undefined;
  /** Takes issuers and URLs of `http:` too, and a `jwks_uri` of it: for tests and loopback. @default false */
  readonly allowHttp?: boolean | undefined;
  /** The greatest size of the metadata, and of the set, in bytes: a whole number from 1. @default 1 MB (1,000,000) */
  readonly maxBytes?: number | undefined;
  /** The greatest number of keys in the set, those for other uses included: a whole number from 1. @default 100 */
  readonly maxKeys?: number | undefined;
  /** Headers of each request to the origin of the issuer or URL; a `jwks_uri` elsewhere does not get them. @default none */
  readonly headers?: HttpSourceOptions<unknown>['headers'];
  /** Sends the requests: for a proxy, or your own certificate authority. @default the platform's `fetch` */
  readonly fetch?: HttpFetch | undefined;
}

/** {@link JwksOptions} with their defaults, checked; those of the value are checked there. */
export interface ResolvedJwksOptions {
  readonly address: Address;
  /** Those of the value that others do not decide. */
  readonly ofValue: object & { readonly name: string };
  readonly unknownKeyMs: number;
  readonly allowHttp: boolean;
  readonly maxBytes: number;
  readonly maxKeys: number;
  readonly headers: JwksOptions['headers'];
  readonly fetch: JwksOptions['fetch'];
}

/** @throws {TicklessError} `OPTION` */
export function resolveJwksOptions(issuer: unknown, options: JwksOptions): ResolvedJwksOptions {
  const {
    name,
    schedule = httpFreshness(FRESHNESS).nextExecuteTime,
    maxStaleness = { days: 1 },
    timeout = { seconds: 10 },
    whenTooStale = 'wait',
    whenFailing = 'serve',
    unknownKey = { seconds: 30 },
    allowHttp = false,
    maxBytes = 1_000_000,
    maxKeys = 100,
    headers,
    fetch,
    ...others
  } = ownOptions(options ?? {});
  const checks = new OptionChecks(typeof name === 'string' ? name : 'jwks');
  checks.names('', options ?? {}, OPTIONS);
  const address = addressOf(issuer, { allowHttp }, checks);
  const unknownKeyMs = checks.duration('unknownKey', unknownKey);
  checks.oneOf('allowHttp', allowHttp, [true, false]);
  checks.count('maxBytes', maxBytes);
  checks.count('maxKeys', maxKeys);
  if (fetch !== undefined) checks.function('fetch', fetch);
  checks.done();
  const ofValue = {
    ...others,
    name: name ?? `jwks(${addressName(address.from)})`,
    schedule,
    maxStaleness,
    timeout,
    whenTooStale,
    whenFailing,
  };
  return { address, ofValue, unknownKeyMs, allowHttp, maxBytes, maxKeys, headers, fetch };
}

/** At most an hour: a key that the issuer has withdrawn goes. At least a minute: whatever it says, it is not asked at each token. */
const FRESHNESS = { fallback: { minutes: 10 }, atLeast: { minutes: 1 }, atMost: { hours: 1 } };

const OPTIONS: readonly string[] = [
  ...VALUE_SHARED,
  'required',
  'unknownKey',
  'allowHttp',
  'maxBytes',
  'maxKeys',
  'headers',
  'fetch',
];
