import { isAbsentError, isClosedError, isOptionError, TicklessError } from '../errors.ts';

/** The checked option `freshness`. */
export interface FreshnessRule {
  readonly withinMs: number;
  readonly target: number;
}

/** The reads of a span of time that ends now. */
export interface FreshnessWindow {
  /** How many there were, refused ones included. */
  readonly reads: number;
  /** The share of them that were served within the age, from 0 to 1; `undefined`: there was none. */
  readonly share: number | undefined;
}

/** How well the objective of the option `freshness` is met. A copy: it does not change. */
export interface FreshnessStatus {
  /** The age in milliseconds. */
  readonly within: number;
  readonly target: number;
  /** The last 60 minutes, in steps of 5 minutes. */
  readonly hour: FreshnessWindow;
  /** The last 24 hours, in steps of 5 minutes. */
  readonly day: FreshnessWindow;
  /** The share of the last hour is under the target. */
  readonly burning: boolean;
}

const STEP_MS = 5 * 60_000;
const HOUR_STEPS = 12;
const DAY_STEPS = 24 * HOUR_STEPS;

/**
 * Counts reads by the age of the value that they were served, over the last hour and day: a ring of steps of 5 minutes. It has no
 * timer: a step ends with the first read or look after it.
 */
export class FreshnessObjective {
  readonly #rule: FreshnessRule;
  readonly #clock: { monotonic(): number };
  readonly #good: Float64Array = new Float64Array(DAY_STEPS);
  readonly #all: Float64Array = new Float64Array(DAY_STEPS);
  /** The number of the present step. */
  #step = 0;
  #endsAt: number;

  constructor(rule: FreshnessRule, clock: { monotonic(): number }) {
    this.#rule = rule;
    this.#clock = clock;
    this.#endsAt = clock.monotonic() + STEP_MS;
  }

  /** Reads were served a value of that age; `Infinity`: they were refused. @param now the monotonic clock, or a little before. */
  served(now: number, ageMs: number, times: number = 1): void {
    if (now >= this.#endsAt) this.#advance(now);
    const at = this.#step % DAY_STEPS;
    this.#all[at] = (this.#all[at] as number) + times;
    if (ageMs <= this.#rule.withinMs) this.#good[at] = (this.#good[at] as number) + times;
  }

  /** The same, of a value that was loaded at that instant. */
  servedNow(loadedAt: number, times?: number): void {
    const now = this.#clock.monotonic();
    this.served(now, now - loadedAt, times);
  }

  /** A read was refused. Mistakes, reads after `close` and the reader's own signal do not count; an absent key is as good as a value. */
  refused(error: unknown, times?: number): void {
    if (!(error instanceof TicklessError) || isOptionError(error) || isClosedError(error)) return;
    this.served(this.#clock.monotonic(), isAbsentError(error) ? 0 : Infinity, times);
  }

  get status(): FreshnessStatus {
    const now = this.#clock.monotonic();
    if (now >= this.#endsAt) this.#advance(now);
    const { withinMs: within, target } = this.#rule;
    const hour = this.#window(HOUR_STEPS);
    return { within, target, hour, day: this.#window(DAY_STEPS), burning: (hour.share ?? 1) < target };
  }

  #window(steps: number): FreshnessWindow {
    let [good, reads] = [0, 0];
    for (let back = 0; back < Math.min(steps, this.#step + 1); back++) {
      const at = (this.#step - back) % DAY_STEPS;
      good += this.#good[at] as number;
      reads += this.#all[at] as number;
    }
    return { reads, share: reads === 0 ? undefined : good / reads };
  }

  #advance(now: number): void {
    const steps = 1 + Math.floor((now - this.#endsAt) / STEP_MS);
    this.#endsAt += steps * STEP_MS;
    for (let left = Math.min(steps, DAY_STEPS); left > 0; left--) {
      const at = (this.#step + steps - left + 1) % DAY_STEPS;
      this.#good[at] = this.#all[at] = 0;
    }
    this.#step += steps;
  }
}

/** The objective of a member; `undefined`: it has none. */
export function objectiveOf({
  freshness,
  clock,
}: {
  readonly freshness: FreshnessRule | undefined;
  readonly clock: { monotonic(): number };
}): FreshnessObjective | undefined {
  return freshness && new FreshnessObjective(freshness, clock);
}
