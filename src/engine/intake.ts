import type { ResolvedOptions } from '../options/resolve-options.ts';
import type { Adopted } from './elsewhere.ts';
import { type Entry, forget, sharedOf } from './entry.ts';
import type { LoadResult } from './load-result.ts';
import { absence } from './read-errors.ts';
import type { CoolingDown, Timing } from './timing.ts';

/** Takes into entries what loads have brought, here or elsewhere: the value, and by the timing its times. */
export class Intake<T> {
  readonly #policy: ResolvedOptions;
  readonly #timing: Timing;

  constructor(policy: ResolvedOptions, timing: Timing) {
    this.#policy = policy;
    this.#timing = timing;
  }

  /**
   * Takes in what was loaded here, or set by hand.
   *
   * @param startedAt when the load began (monotonic).
   * @returns the cool-down, where the schedule failed.
   */
  accept(entry: Entry<T>, answer: LoadResult<T> | 'absent', startedAt: number): CoolingDown | undefined {
    if (answer === 'absent') return this.#absent(entry, this.#policy.absentForMs);
    const { outcome, value, said } = answer;
    if (outcome !== 'kept') hold(entry, value);
    return this.#timing.succeeded(entry, outcome, said, startedAt);
  }

  /** Takes in what another instance has loaded. */
  adopt(entry: Entry<T>, { value, isAbsent, ...adopted }: Adopted<T>['what']): undefined {
    const state = sharedOf(entry);
    state.version = Math.max(state.version, adopted.version);
    state.isLocal = false;
    if (isAbsent) return this.#absent(entry, adopted.dueAt - this.#policy.clock.monotonic());
    hold(entry, value);
    this.#timing.adopted(entry, adopted);
  }

  #absent(entry: Entry<T>, forMs: number): undefined {
    const { clock, name } = this.#policy;
    forget(entry);
    this.#timing.absent(entry, Math.max(0, forMs));
    entry.lastError = absence(entry, name, clock.monotonic());
  }
}

function hold<T>(entry: Entry<T>, value: T): void {
  entry.value = value;
  entry.promise = Promise.resolve(value);
  entry.isLoaded = true;
}
