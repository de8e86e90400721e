import { showKey } from '../errors.ts';
import { ownOptions } from '../option-checks.ts';
import { isPlainObject } from '../plain-object.ts';
import type { StandardSchema } from '../schema.ts';
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
