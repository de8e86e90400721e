import { ownOptions } from '../option-checks.ts';
import { isPlainObject } from '../plain-object.ts';
import { ALGORITHMS, isKeyFor, type PublicKeyType } from './algorithms.ts';
import { base64urlOf } from './base64url.ts';

/** A public key for signatures, as JSON (RFC 7517): the members of a key that verification needs, and no others. */
export interface PublicJwk {
  readonly kty: PublicKeyType;
  /** Not present: the key has no name. */
  readonly kid?: string;
  /** The only algorithm that it is for. Not present: each one that fits its type and curve. */
  readonly alg?: string;
  readonly crv?: string;
  readonly n?: string;
  readonly e?: string;
  readonly x?: string;
  readonly y?: string;
}

type Material = 'crv' | 'n' | 'e' | 'x' | 'y';

const MATERIAL: ReadonlyMap<unknown, readonly Material[]> = /* @__PURE__ */ new Map<unknown, Material[]>([
  ['RSA', ['n', 'e']],
  ['EC', ['crv', 'x', 'y']],
  ['OKP', ['crv', 'x']],
]);

/** The private part of any type of key. */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** The curves that one of the algorithms is for. */
const CURVES = /* @__PURE__ */ new Set([...ALGORITHMS.values()].flatMap(({ crv }) => crv ?? []));

/** Of 2,048 bits in base64url. Shorter keys may not be used (RFC 7518 §3.3). */
const SHORTEST_MODULUS = 342;

/**
 * Reads one member of a set. Looks at its own properties only.
 *
 * @returns the key; or what is wrong with it, to follow its name; or `undefined`: it is for something else than signatures, or of
 *   a kind that is not known here, which a set may have (RFC 7517 §5).
 */
export function publicJwkOf(given: unknown): PublicJwk | string | undefined {
  if (!isPlainObject(given)) return 'is not an object';
  const jwk = membersOf(given);
  const { kty, use, key_ops: operations, kid, alg } = jwk;
  if (typeof kty !== 'string') return 'has no kty';
  if (kty === 'oct') return 'is a shared secret (kty "oct"), which verifies nothing once it is published';
  const material = MATERIAL.get(kty);
  if (material === undefined || (use !== undefined && use !== 'sig')) return undefined;
  if (operations !== undefined && !Array.isArray(operations)) return 'has key_ops that are not an array';
  if (operations !== undefined && !operations.includes('verify')) return undefined;
  if (PRIVATE.some((name) => jwk[name] !== undefined))
    return 'has its private part in it: all can sign with it';
  if (kid !== undefined && typeof kid !== 'string') return 'has a kid that is not a string';
  if (alg !== undefined && typeof alg !== 'string') return 'has an alg that is not a string';
  const wrong = material.find((name) => !isBase64url(jwk[name]));
  if (wrong !== undefined) return `has no valid ${wrong}`;
  if (material.includes('crv') && !CURVES.has(jwk.crv as string)) return undefined;
  if (kty === 'RSA' && isShort(jwk.n as string)) return 'is of less than 2,048 bits';
  if (kty === 'RSA' && !isExponent(jwk.e as string)) return 'has an exponent with which anyone can sign';
  const algorithm = alg === undefined ? undefined : ALGORITHMS.get(alg);
  if (alg !== undefined && algorithm === undefined) return undefined;
  const key = Object.fromEntries(
    ['kty', 'kid', 'alg', ...material].flatMap((name) =>
      jwk[name] === undefined ? [] : [[name, jwk[name]]],
    ),
  ) as unknown as PublicJwk;
  if (algorithm !== undefined && !isKeyFor(key, algorithm)) return `is not of the type that its alg needs`;
  return key;
}

/** Those that are `null` are not there, as in the libraries that verify; the material is as RFC 7518 §6 writes it. */
function membersOf(given: Record<string, unknown>): Readonly<Record<string, unknown>> {
  const members = Object.entries(ownOptions(given)).filter(([, value]) => value !== null);
  return Object.fromEntries(
    members.map(([name, value]) => [
      name,
      isMaterial(name) && typeof value === 'string' ? base64urlOf(value) : value,
    ]),
  );
}

function isMaterial(name: string): boolean {
  return ['n', 'e', 'x', 'y'].includes(name);
}

/** Also the name of a curve. */
function isBase64url(text: unknown): boolean {
  return typeof text === 'string' && /^[\w-]+$/.test(text);
}

/** Zeros at the beginning make a modulus no greater. */
function isShort(modulus: string): boolean {
  return modulus.replace(/^A+/, '').length < SHORTEST_MODULUS;
}

/** Odd, and over 1 (RFC 8017 §3.1): with 1 a signature is the text itself. */
function isExponent(exponent: string): boolean {
  if (exponent.length % 4 === 1) return false; // not the length of base64url
  const bytes = atob(exponent.replaceAll('-', '+').replaceAll('_', '/')).replace(/^\0+/, '');
  return bytes !== '\x01' && (bytes.at(-1)?.charCodeAt(0) ?? 0) % 2 === 1;
}

/** A key that was found for a token, and the algorithm that it is to be used with. */
export interface FoundKey {
  readonly key: PublicJwk;
  readonly alg: string;
}

/** A key of WebCrypto, of the type that the platform has. */
export type PlatformKey = Awaited<ReturnType<typeof globalThis.crypto.subtle.importKey>>;

/**
 * Keys as verification takes them. Each is imported once for an algorithm, and forgotten with the set that it is of: a set that
 * has not changed keeps its keys.
 */
export class ImportedKeys {
  readonly #keys = new WeakMap<PublicJwk, Map<string, Promise<PlatformKey>>>();
  readonly #texts = new WeakMap<PublicJwk, Promise<string>>();

  /** For one of the algorithms that fit the key: there are six at most. Rejects where the platform does not take the key. */
  key({ key, alg }: FoundKey): Promise<PlatformKey> {
    const ofKey = getOrAdd(this.#keys, key, () => new Map<string, Promise<PlatformKey>>());
    return getOrAdd(ofKey, alg, () => importKey(key, alg));
  }

  /** As PEM (SPKI), which does not depend on the algorithm. */
  pem(found: FoundKey): Promise<string> {
    return getOrAdd(this.#texts, found.key, async () => {
      const bytes = await globalThis.crypto.subtle.exportKey('spki', await this.key(found));
      const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
      return `-----BEGIN PUBLIC KEY-----\n${text.replace(/.{64}(?=.)/g, '$&\n')}\n-----END PUBLIC KEY-----\n`;
    });
  }
}

/** Rejects where the platform does not take the key, whatever the algorithm. */
export async function tryImport(jwk: PublicJwk): Promise<void> {
  const [alg] = [...ALGORITHMS].find(([, algorithm]) => isKeyFor(jwk, algorithm)) as [string, unknown];
  await importKey(jwk, alg);
}

async function importKey(jwk: PublicJwk, alg: string): Promise<PlatformKey> {
  const parameters = ALGORITHMS.get(alg)?.parameters as { readonly name: string };
  const { kid: _kid, alg: _alg, ...material } = jwk; // WebCrypto would compare the alg with names of its own
  return await globalThis.crypto.subtle.importKey('jwk', material, parameters, true, ['verify']);
}

function getOrAdd<K extends object | string, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
