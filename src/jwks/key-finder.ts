import type { RefreshingValue } from '../index.ts';
import type { FoundKey } from './imported-keys.ts';
import type { KeyLookup } from './key-lookup.ts';
import type { KeySet } from './key-set.ts';
import type { PublicJwk } from './public-jwk.ts';
import { noKey, selectKey, type TokenHeader, type WantedKey, wantedKey } from './select-key.ts';

/** Finds the keys of tokens: among those in memory, or those of one more load. */
export class KeyFinder {
  readonly #member: RefreshingValue<KeySet>;
  readonly #lookup: KeyLookup;

  constructor(member: RefreshingValue<KeySet>, lookup: KeyLookup) {
    this.#member = member;
    this.#lookup = lookup;
  }

  /** Rejects with `JwksError` where there is none, and where there are no keys at all as `get` of their value does. */
  async find(header: TokenHeader | undefined): Promise<FoundKey> {
    const wanted = wantedKey(header);
    const begunAt = this.#lookup.now();
    const keys = await this.#member.get();
    const key = selectKey(keys, wanted) ?? (await this.#findAmongNewer(keys, wanted, begunAt));
    if (key === undefined) throw noKey(keys, wanted);
    return { key, alg: wanted.alg };
  }

  async #findAmongNewer(keys: KeySet, wanted: WantedKey, begunAt: number): Promise<PublicJwk | undefined> {
    const newer = await this.#lookup.start(begunAt)?.catch((cause) => {
      throw noKey(keys, wanted, cause);
    });
    return newer && selectKey(newer, wanted);
  }
}
