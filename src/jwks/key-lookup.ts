import type { RefreshingValue } from '../index.ts';
import type { Clock } from '../time/clock.ts';
import type { KeySet } from './key-set.ts';

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
