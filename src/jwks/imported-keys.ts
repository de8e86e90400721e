import { ALGORITHMS, isKeyFor } from './algorithms.ts';
import type { PublicJwk } from './public-jwk.ts';

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
