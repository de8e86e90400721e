/** In the long run rounds make one report in this time, in milliseconds. */
export const REPORT_EVERY_MS = 1000;

/** A long report takes the place of several: one for each of these, in characters. */
const CHARACTERS_OF_ONE = 16_000;

/** One that was made in vain, because it would say nothing new, counts for less. */
const COST_IN_VAIN = 0.1;

/** The most that follow each other at once: those of the rounds of as many members that are due together. */
const AT_ONCE = 30;

/** Reports beyond the budget are this far apart, in characters of one a millisecond. */
const CHARACTERS_A_MS = 256;
const LEAST_APART_MS = 20;

/**
 * How many reports go with rounds: making one takes time, and it makes a command longer. Pure but for the instants that it
 * remembers.
 *
 * A bucket: it fills up by one report in a second, and holds 30.
 */
export class ReportBudget {
  /** When the last one was made, to be left or not (monotonic). */
  madeAt: number = Number.NEGATIVE_INFINITY;
  #length = 0;
  /** When the bucket is full again. */
  #fullAt = Number.NEGATIVE_INFINITY;
  /** When the last one beyond the budget was made. */
  #beyondAt = Number.NEGATIVE_INFINITY;

  /** One may be made. */
  allows(now: number): boolean {
    return this.#fullAt - now <= (AT_ONCE - 1) * REPORT_EVERY_MS;
  }

  /** One may be made although the bucket is empty: no other command will soon carry what it says. */
  allowsLast(now: number): boolean {
    return now - this.#beyondAt >= Math.max(LEAST_APART_MS, this.#length / CHARACTERS_A_MS);
  }

  /** One was made. @param length 0: it is not left. */
  spend(now: number, length: number): void {
    if (!this.allows(now)) this.#beyondAt = now;
    this.madeAt = now;
    if (length > 0) this.#length = length;
    const cost = length > 0 ? Math.max(1, length / CHARACTERS_OF_ONE) : COST_IN_VAIN;
    // Those beyond the budget leave it empty, not in debt.
    const before = Math.min(Math.max(this.#fullAt, now), now + (AT_ONCE - 1) * REPORT_EVERY_MS);
    this.#fullAt = before + cost * REPORT_EVERY_MS;
  }
}
