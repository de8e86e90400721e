import { httpFreshness, RefreshingValue, type RefreshingValueOptions } from '../index.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { VALUE_SHARED } from '../options/resolve-options.ts';
import type { DurationLike } from '../time/duration.ts';
import { engineOf } from '../value/lifecycle.ts';
import { ImportedKeys, type PlatformKey } from './imported-keys.ts';
import { addressOf } from './issuer.ts';
import { KeyLookup } from './key-lookup.ts';
import { type KeySet, keySetSchema } from './key-set.ts';
import { keySource } from './key-source.ts';
import type { PublicJwk } from './public-jwk.ts';
import { noKey, selectKey, type TokenHeader, wantedKey } from './select-key.ts';

/** The options of {@link jwks}; none is required. Those of a `RefreshingValue` mean the same here. */
export interface JwksOptions
  extends Omit<
    RefreshingValueOptions<KeySet>,
    | 'name'
    | 'load'
    | 'schema'
    | 'accept'
    | 'maxQuarantined'
    | 'unchanged'
    | 'initial'
    | 'allowUndefined'
    | 'schedule'
    | 'maxStaleness'
    | 'timeout'
  > {
  /** As of each value: in errors, events, log lines, and in a cluster. @default 'jwks(the issuer or URL)' */
  readonly name?: string | undefined;
  /**
   * When to load the keys next, beside the loads for unknown keys. @default while the response is fresh, but at least 1 minute
   *   and at most 1 hour; 10 minutes where it does not say
   */
  readonly schedule?: RefreshingValueOptions<KeySet>['schedule'];
  /**
   * How long keys are used while they can't be loaded again. As long can an attacker that keeps this service from the issuer have a
   * withdrawn key used. Directives of the response about stale use do not count. @default 1 day
   */
  readonly maxStaleness?: DurationLike | undefined;
  /** The deadline of one load, metadata included: verifications wait for it where the key is unknown. @default 10 seconds */
  readonly timeout?: DurationLike | undefined;
  /**
   * A token whose key is not among those here causes a load, and waits for it; from its start on no other one does for this time.
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
  /** Headers of each request. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sends the requests: for a proxy, or your own certificate authority. @default the platform's `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * The public keys of an issuer, for the libraries that verify its tokens: made by {@link jwks}. It is the `getKey` of jose.
 *
 * Each of its functions waits for the first load, later only for a load that a token with an unknown key has caused. Rejects with
 * `JwksError` where there is no key for the token, and as `get` of a `RefreshingValue` where there are no keys: `LoadError` before
 * the first success, `StaleValueError` beyond `maxStaleness`.
 */
export interface Jwks {
  /**
   * For jose: `jwtVerify(token, keys)`.
   *
   * @param header the protected header.
   * @param token its `header`, which is not protected, may have the `kid`.
   */
  (
    header?: TokenHeader | undefined,
    token?: { readonly header?: TokenHeader | undefined } | undefined,
  ): Promise<PlatformKey>;
  /** For jsonwebtoken: `verify(token, keys.callback, …)`. The key is PEM. */
  readonly callback: (header: TokenHeader, done: (error: Error | null, key?: string) => void) => void;
  /** For fast-jwt: `createVerifier({ key: keys.pem })`, and all that take PEM: the key of a token that was decoded. */
  readonly pem: (token: { readonly header: TokenHeader }) => Promise<string>;
  /** The value that keeps them fresh: `inspect()`, `refresh()`, `on()`, `close()`. */
  readonly member: RefreshingValue<KeySet>;
}

/**
 * The keys of an issuer (a JWK Set), kept in memory and loaded again when a token is verified: at their time, and where a token
 * names a key that is not among them. While the issuer is down the keys here are used, up to `maxStaleness`.
 *
 * ```ts ignore
 * import { jwtVerify } from 'jose';
 * import { jwks } from 'tickless/jwks';
 *
 * const keys = jwks('https://issuer.example');
 * const { payload } = await jwtVerify(token, keys, { issuer: 'https://issuer.example', audience: 'api' });
 * ```
 *
 * @param issuer as tokens name it in `iss`: its metadata says where the keys are; or `{ url }`, where they are.
 * @throws {OptionError} naming every option that breaks a rule.
 */
export function jwks(issuer: string | { readonly url: string | URL }, options: JwksOptions = {}): Jwks {
  const {
    name,
    schedule = httpFreshness(FRESHNESS).nextExecuteTime,
    maxStaleness = { days: 1 },
    timeout = { seconds: 10 },
    unknownKey = { seconds: 30 },
    allowHttp = false,
    maxBytes = 1_000_000,
    maxKeys = 100,
    headers,
    fetch = globalThis.fetch,
    ...ofValue
  } = ownOptions(options);
  const checks = new OptionChecks(typeof name === 'string' ? name : 'jwks');
  checks.names('', options, OPTIONS);
  const address = addressOf(issuer, { allowHttp }, checks);
  const everyMs = checks.duration('unknownKey', unknownKey);
  checks.oneOf('allowHttp', allowHttp, [true, false]);
  checks.count('maxBytes', maxBytes);
  checks.count('maxKeys', maxKeys);
  checks.function('fetch', fetch);
  checks.done();

  const from = address.kind === 'url' ? address.url : address.issuer;
  let lastBroken = '';
  const onBroken = (broken: readonly string[]): void => {
    const text = broken.join('; ');
    if (text !== '' && text !== lastBroken) engineOf(member).options.logger.warn(`keys left out: ${text}`);
    lastBroken = text;
  };
  const member = new RefreshingValue<KeySet>({
    ...ofValue,
    name: name ?? `jwks(${from})`,
    schedule,
    maxStaleness,
    timeout,
    load: keySource(address, { maxBytes, maxKeys, headers, fetch, allowHttp, onBroken }),
    schema: keySetSchema(from, maxKeys),
    unchanged: 'deep',
  });
  const lookup = new KeyLookup(member, engineOf(member).options.clock, everyMs);
  const imported = new ImportedKeys();

  const keyOf = async (header: TokenHeader | undefined): Promise<readonly [PublicJwk, alg: string]> => {
    const wanted = wantedKey(header);
    const isFirst = member.peek() === undefined; // then no load could be newer
    const keys = await member.get();
    const found = selectKey(keys, wanted);
    if (found !== undefined) return [found, wanted.alg];
    const reloaded = isFirst ? undefined : lookup.start();
    const newest =
      reloaded === undefined
        ? keys
        : await reloaded.catch((cause) => {
            throw noKey(keys, wanted, cause);
          });
    const key = selectKey(newest, wanted);
    if (key === undefined) throw noKey(newest, wanted);
    return [key, wanted.alg];
  };
  const pem = async ({ header }: { readonly header: TokenHeader }): Promise<string> =>
    imported.pem(...(await keyOf(header)));

  return Object.assign(
    async (header?: TokenHeader, token?: { readonly header?: TokenHeader | undefined }) =>
      imported.key(...(await keyOf({ ...token?.header, ...header }))),
    {
      callback: (header: TokenHeader, done: (error: Error | null, key?: string) => void): void => {
        pem({ header }).then((key) => done(null, key), done);
      },
      pem,
      member,
    },
  );
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
