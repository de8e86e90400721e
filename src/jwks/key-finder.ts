import type { RefreshingValue } from '../index.ts';
import type { Clock } from '../time/clock.ts';
import { isJwksError } from './jwks-error.ts';
import { type KeySet, noKey, selectKey, type TokenHeader, type WantedKey, wantedKey } from './key-set.ts';
import type { FoundKey, PublicJwk } from './public-jwk.ts';

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

/** A lookup that a cool-down has prevented is tried again after this, in milliseconds. */
const PREVENTED_MS = 1000;

/**
 * Loads the keys again for tokens whose key is not among them: at most once in a span, however many tokens there are and whatever
 * they name. Nothing is kept of them.
 */
export class KeyLookup {
  readonly #member: RefreshingValue<KeySet>;
  readonly #clock: Clock;
  readonly #everyMs: number;
  /** The next one may start from here on (monotonic). */
  #notBefore: number;
  #running: Promise<KeySet> | undefined;

  /** @param everyMs from the start of one to that of the next; `Infinity`: none at all. */
  constructor(member: RefreshingValue<KeySet>, clock: Clock, everyMs: number) {
    this.#member = member;
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#notBefore = everyMs === Infinity ? Infinity : -Infinity;
  }

  /** When a verification begins (monotonic). */
  now(): number {
    return this.#clock.monotonic();
  }

  /** One more load may start now, or is under way. */
  get isPossible(): boolean {
    return this.#running !== undefined || this.now() >= this.#notBefore;
  }

  /**
   * The keys after one more load, or after the load that is under way for another token. Rejects where it fails or may not start:
   * during a cool-down the issuer is left alone; and where none may start yet, while the last load has failed.
   *
   * @param begunAt when the verification began (monotonic).
   * @returns `undefined`: there is none, since the last one is too short a time ago, or the keys were loaded since `begunAt`.
   */
  start(begunAt: number): Promise<KeySet> | undefined {
    if (this.#running !== undefined) return this.#running;
    const now = this.now();
    const { age = Infinity, lastError } = this.#member.inspect({ values: false });
    if (age <= now - begunAt) return undefined;
    if (now < this.#notBefore) return lastError && Promise.reject(lastError);
    this.#notBefore = now + this.#everyMs;
    this.#running = this.#load(lastError).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** @param before the last failure: if it is still the same one, no load has begun. */
  async #load(before: Error | undefined): Promise<KeySet> {
    try {
      return await this.#member.get({ maxStaleness: 0 });
    } catch (error) {
      const hasBegun = this.#member.inspect({ values: false }).lastError !== before;
      if (!hasBegun) this.#notBefore = Math.min(this.#notBefore, this.now() + PREVENTED_MS);
      throw error;
    }
  }
}
