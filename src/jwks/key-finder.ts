import type { RefreshingValue } from '../index.ts';
import type { FoundKey } from './imported-keys.ts';
import { isJwksError } from './jwks-error.ts';
import type { KeyLookup } from './key-lookup.ts';
import type { KeySet } from './key-set.ts';
import { noKey, selectKey, type TokenHeader, type WantedKey, wantedKey } from './key-set.ts';
import type { PublicJwk } from './public-jwk.ts';

/** Finds the keys of tokens: among those in memory, or those of one more load. */
export class KeyFinder {
  readonly #member: RefreshingValue<KeySet>;
  readonly #lookup: KeyLookup;

  constructor(member: RefreshingValue<KeySet>, lookup: KeyLookup) {
    this.#member = member;
    this.#lookup = lookup;
  }

  /**
   * Rejects with `JwksError` where there is none, and where there are no keys at all as `get` of their value does.
   *
   * @param isReplaced the token is signed by another key than this one: the keys are loaded again, as for an unknown key.
   */
  async find(
    header: TokenHeader | undefined,
    isReplaced?: (found: FoundKey) => Promise<boolean>,
  ): Promise<FoundKey> {
    const wanted = wantedKey(header);
    const begunAt = this.#lookup.now();
    const keys = await this.#member.get();
    const { alg } = wanted;
    let key = selectKey(keys, wanted);
    if (key === undefined) key = await this.#findAmongNewer(keys, wanted, begunAt);
    else if (isReplaced !== undefined && this.#lookup.isPossible && (await isReplaced({ key, alg })))
      key = await this.#replacementOf(key, wanted, begunAt);
    if (key === undefined) throw noKey(keys, wanted);
    return { key, alg };
  }

  /** The key itself where the keys can't be loaded again: then the library refuses the signature. */
  async #replacementOf(key: PublicJwk, wanted: WantedKey, begunAt: number): Promise<PublicJwk | undefined> {
    try {
      return selectKey((await this.#lookup.start(begunAt)) ?? (await this.#member.get()), wanted);
    } catch (error) {
      if (isJwksError(error)) throw error; // of the new set
      return key;
    }
  }

  async #findAmongNewer(keys: KeySet, wanted: WantedKey, begunAt: number): Promise<PublicJwk | undefined> {
    const newer = await this.#lookup.start(begunAt)?.catch((cause) => {
      throw noKey(keys, wanted, cause);
    });
    return newer && selectKey(newer, wanted);
  }
}
