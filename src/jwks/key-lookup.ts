import type { RefreshingValue } from '../index.ts';
import type { Clock } from '../time/clock.ts';
import type { KeySet } from './key-set.ts';

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

  /**
   * The keys after one more load, or after the load that is under way for another token. Rejects where it fails or may not start:
   * during a cool-down the issuer is left alone.
   *
   * @param begunAt when the verification began (monotonic).
   * @returns `undefined`: there is none, since the last one is too short a time ago, or the keys were loaded since `begunAt`.
   */
  start(begunAt: number): Promise<KeySet> | undefined {
    if (this.#running !== undefined) return this.#running;
    const now = this.now();
    const { age = Infinity } = this.#member.inspect({ values: false });
    if (now < this.#notBefore || age <= now - begunAt) return undefined;
    this.#notBefore = now + this.#everyMs;
    this.#running = this.#member.get({ maxAge: 0 }).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}
