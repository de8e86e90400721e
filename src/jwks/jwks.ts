import { RefreshingValue } from '../index.ts';
import { engineOf } from '../value/lifecycle.ts';
import { type JwksOptions, resolveJwksOptions } from './jwks-options.ts';
import { KeyFinder, KeyLookup } from './key-finder.ts';
import type { TokenHeader } from './key-set.ts';
import { type KeySet, keySetSchema } from './key-set.ts';
import { keySource } from './key-source.ts';
import { type FoundKey, ImportedKeys, type PlatformKey } from './public-jwk.ts';
import { Signatures, type SignedToken } from './signatures.ts';

/**
 * The public keys of an issuer, for the libraries that verify its tokens: made by {@link jwks}. It is the `getKey` of jose.
 *
 * Each of its functions waits for the first load, later only for a load that a token with an unknown key has caused. Rejects with
 * `JwksError` where there is no key for the token, and as `get` of a `RefreshingValue` where there are no keys: `LOAD_FAILED` before
 * the first success, `TOO_STALE` beyond `maxStaleness`.
 */
export interface Jwks {
  /**
   * For jose: `jwtVerify(token, keys)`.
   *
   * @param header the protected header.
   * @param token as jose has it. Its `header`, which is not protected, may have the `kid`. Where its signature was made by another key
   *   than the one of its name, the issuer may have replaced that one: the keys are loaded again, as for an unknown key.
   */
  (
    header?: TokenHeader | undefined,
    token?: (SignedToken & { readonly header?: TokenHeader | undefined }) | undefined,
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
 * @throws {TicklessError} `OPTION` naming every option that breaks a rule.
 */
export function jwks(issuer: string | { readonly url: string | URL }, options: JwksOptions = {}): Jwks {
  const { address, ofValue, unknownKeyMs, maxKeys, ...ofSource } = resolveJwksOptions(issuer, options);
  const report = onceEach((text) => engineOf(member).options.logger.warn(`keys left out: ${text}`));
  const member = new RefreshingValue<KeySet>({
    ...ofValue,
    load: keySource(address, { ...ofSource, maxKeys, onBroken: (broken) => report(broken.join('; ')) }),
    schema: keySetSchema(address.from, maxKeys),
    unchanged: 'deep',
  });
  const finder = new KeyFinder(member, new KeyLookup(member, engineOf(member).options.clock, unknownKeyMs));
  const imported = new ImportedKeys();
  const signatures = new Signatures(imported);
  const pem = async ({ header }: { readonly header: TokenHeader }): Promise<string> =>
    imported.pem(await finder.find(header));
  const getKey = async (...[header, token]: Parameters<Jwks>): Promise<PlatformKey> => {
    const isReplaced = (found: FoundKey): Promise<boolean> => signatures.isOfAnotherKey(token ?? {}, found);
    return imported.key(await finder.find({ ...token?.header, ...header }, isReplaced));
  };
  const callback: Jwks['callback'] = (header, done) => {
    pem({ header }).then((key) => done(null, key), done);
  };
  return Object.assign(getKey, { callback, pem, member });
}

/** Calls it with a text that is not empty, and not that of the call before. */
function onceEach(call: (text: string) => void): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== '' && text !== last) call(text);
    last = text;
  };
}
