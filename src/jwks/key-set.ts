import { showKey } from '../errors.ts';
import { ownOptions } from '../option-checks.ts';
import { isPlainObject } from '../plain-object.ts';
import type { StandardSchema } from '../schema.ts';
import { ALGORITHMS, type Algorithm, isKeyFor } from './algorithms.ts';
import { addressName } from './issuer.ts';
import { JwksError } from './jwks-error.ts';
import { type PublicJwk, publicJwkOf } from './public-jwk.ts';

/** The keys of an issuer that verify signatures: the value that {@link jwks} keeps fresh. */
export interface KeySet {
  /** The issuer or the URL that they were asked of, as it was given to `jwks`: of a URL, its query too. */
  readonly from: string;
  /** At least one. */
  readonly keys: readonly PublicJwk[];
}

/** The keys of a document, and its broken members. */
export interface ExaminedKeys {
  readonly keys: readonly PublicJwk[];
  /** Those that are broken, each with the reason. Keys for something else are not. */
  readonly broken: readonly string[];
}

/** Reads the members of a JWK Set, each by itself: a broken one takes nothing from the others. @throws {JwksError} */
export function examineKeys(document: unknown, maxKeys: number): ExaminedKeys {
  const members: unknown = isPlainObject(document) ? ownOptions(document).keys : undefined;
  if (!Array.isArray(members)) throw invalidSet('it is not a JWK Set: it has no array of keys');
  if (members.length > maxKeys)
    throw invalidSet(`it has ${members.length} keys, more than maxKeys of ${maxKeys}`);
  const keys = new Map<string, PublicJwk>();
  const broken: string[] = [];
  for (const [index, member] of members.entries()) {
    const found = publicJwkOf(member);
    if (typeof found === 'string') broken.push(`${nameOf(member, index)} ${found}`);
    else if (found !== undefined) keys.set(JSON.stringify(found), found); // the same key twice is one
  }
  return { keys: [...keys.values()], broken };
}

/** Refuses a set from which nothing could be verified: it must not replace one that can. @throws {JwksError} */
export function requireKeys({ keys, broken }: ExaminedKeys): void {
  if (keys.length > 0) return;
  const reasons = broken.length === 0 ? '' : `: ${broken.join('; ')}`;
  throw invalidSet(`it has no key that verifies signatures${reasons}`);
}

/** How a key of a set is called: by its `kid`, or its place. */
export function nameOf(member: unknown, index: number): string {
  const kid: unknown = isPlainObject(member) ? ownOptions(member).kid : undefined;
  return typeof kid === 'string' ? `key ${showKey(kid)}` : `key ${index + 1}`;
}

/**
 * Checks a set from elsewhere, such as that of another instance in a store: it must be of the same issuer, and each key is read
 * anew. So a set that was stored under this name for another issuer is not used.
 */
export function keySetSchema(from: string, maxKeys: number): StandardSchema<KeySet> {
  const refused = (message: string) => ({ issues: [{ message }] });
  return {
    '~standard': {
      version: 1,
      validate(value) {
        const set = isPlainObject(value) ? ownOptions(value) : undefined;
        if (set?.from !== from) return refused(`it is not the set of ${addressName(from)}`);
        try {
          const examined = examineKeys(set, maxKeys);
          requireKeys(examined);
          return { value: { from, keys: examined.keys } };
        } catch (error) {
          return refused((error as Error).message);
        }
      },
    },
  };
}

function invalidSet(message: string): JwksError {
  return new JwksError('ERR_TICKLESS_JWKS_SET', message);
}

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
