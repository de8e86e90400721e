import { showKey } from '../errors.ts';
import { isPlainObject } from '../plain-object.ts';
import { ALGORITHMS, type Algorithm, isKeyFor } from './algorithms.ts';
import { addressName } from './issuer.ts';
import { JwksError } from './jwks-error.ts';
import type { KeySet } from './key-set.ts';
import type { PublicJwk } from './public-jwk.ts';

/** The header of a token, of which nothing is known to be true yet. Only `alg` and `kid` are read of it. */
export interface TokenHeader {
  readonly alg?: string | undefined;
  readonly kid?: string | undefined;
}

/** The key that a token asks for. */
export interface WantedKey {
  /** The name of the algorithm. */
  readonly alg: string;
  readonly algorithm: Algorithm;
  /** `undefined`: the token does not say. */
  readonly kid: string | undefined;
}

/**
 * Reads a header. Where its key is from (`jku`, `x5u`, `jwk`, `x5c`) is not read: a token does not choose its issuer.
 *
 * @throws {JwksError} for an algorithm without a public key.
 */
export function wantedKey(header: TokenHeader | undefined): WantedKey {
  const own = (name: keyof TokenHeader): unknown =>
    isPlainObject(header) && Object.hasOwn(header, name) ? header[name] : undefined;
  const [alg, kid] = [own('alg'), own('kid')];
  const algorithm = typeof alg === 'string' ? ALGORITHMS.get(alg) : undefined;
  if (algorithm === undefined) {
    const message = `a token with the algorithm ${showKey(alg)} is not verified: it needs none of the public keys`;
    throw new JwksError('ERR_TICKLESS_JWKS_ALGORITHM', message);
  }
  if (kid !== undefined && typeof kid !== 'string') {
    throw new JwksError(
      'ERR_TICKLESS_JWKS_ALGORITHM',
      `the kid of a token must be a string, received ${showKey(kid)}`,
    );
  }
  return { alg: alg as string, algorithm, kid };
}

/**
 * The one key that fits: of the type, curve and algorithm, and with the name, where the token has one.
 *
 * @returns `undefined` where none does.
 * @throws {JwksError} where several do.
 */
export function selectKey({ from, keys }: KeySet, wanted: WantedKey): PublicJwk | undefined {
  const [key, ...others] = keys.filter(
    (one) =>
      (wanted.kid === undefined || one.kid === wanted.kid) &&
      (one.alg === undefined || one.alg === wanted.alg) &&
      isKeyFor(one, wanted.algorithm),
  );
  if (others.length === 0) return key;
  const message = `${others.length + 1} keys of ${addressName(from)} fit ${shown(wanted)}: the token does not say which one`;
  throw new JwksError('ERR_TICKLESS_JWKS_SEVERAL_KEYS', message);
}

/** No key fits. @param cause why the keys could not be loaded again. `undefined`: they were, or just now. */
export function noKey({ from, keys }: KeySet, wanted: WantedKey, cause?: unknown): JwksError {
  const count = keys.length === 1 ? 'the key' : `none of the ${keys.length} keys`;
  const fits = keys.length === 1 ? 'does not fit' : 'fits';
  const message = `${count} of ${addressName(from)} ${fits} ${shown(wanted)}`;
  return new JwksError('ERR_TICKLESS_JWKS_NO_KEY', message, { cause });
}

function shown({ kid, alg }: WantedKey): string {
  return kid === undefined ? `a token with ${alg} and without a kid` : `kid ${showKey(kid)} with ${alg}`;
}
