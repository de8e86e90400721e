import { ALGORITHMS } from './algorithms.ts';
import { bytesOf } from './base64url.ts';
import type { FoundKey, ImportedKeys, PublicJwk } from './public-jwk.ts';

/** A token as jose hands it to its `getKey` (a flattened JWS). */
export interface SignedToken {
  readonly protected?: unknown;
  readonly payload?: unknown;
  readonly signature?: unknown;
}

/** Of a key. A token is often used again, and is then verified by the library alone. */
const MOST_KNOWN = 1000;

/** Compares the signatures of tokens with the keys that were found for them: an issuer may have replaced a key under its name. */
export class Signatures {
  readonly #imported: ImportedKeys;
  /** Those that a key has made. They only save work: whether a token is good the library decides. */
  readonly #made = new WeakMap<PublicJwk, Set<string>>();

  constructor(imported: ImportedKeys) {
    this.#imported = imported;
  }

  /**
   * Another key has made the signature. `false` also where it can't be known: parts are missing or malformed, or the platform can't
   * verify.
   */
  async isOfAnotherKey(
    { protected: header, payload, signature }: SignedToken,
    found: FoundKey,
  ): Promise<boolean> {
    if (typeof header !== 'string' || typeof payload !== 'string' || typeof signature !== 'string')
      return false;
    const known = this.#made.get(found.key);
    if (known?.has(signature)) return false;
    try {
      const signed = new TextEncoder().encode(`${header}.${payload}`);
      const key = await this.#imported.key(found);
      const { subtle } = globalThis.crypto;
      if (!(await subtle.verify(parametersOf(found.alg), key, bytesOf(signature), signed))) return true;
    } catch {
      return false;
    }
    const isRoom = known !== undefined && known.size < MOST_KNOWN;
    this.#made.set(found.key, isRoom ? known.add(signature) : new Set([signature]));
    return false;
  }
}

/** As RFC 7518 §3 says: the salt of RSA-PSS is as long as the digest. */
function parametersOf(alg: string): {
  readonly name: string;
  readonly hash: string;
  readonly saltLength: number;
} {
  const bits = Number(alg.slice(2));
  return { name: ALGORITHMS.get(alg)?.parameters.name ?? alg, hash: `SHA-${bits}`, saltLength: bits / 8 };
}
