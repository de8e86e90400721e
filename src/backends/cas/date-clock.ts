import { KnownClock } from '../../records/cells/known-clock.ts';
import { parseHttpDate } from '../../schedule/http-date.ts';

/** A header `Date` counts seconds. */
const SECOND_MS = 1000;

/**
 * A server's clock, by the header `Date` of its responses, without commands of its own: each response says in which second
 * it was made, so the first one leaves a second open, and those that come shortly before and after the end of one narrow it
 * down to about the time that a command takes.
 */
export class DateClock extends KnownClock {
  readonly #staleMs: number;

  /** @param staleMs a header may be this much older than its response. */
  constructor(monotonic: () => number, staleMs: number = 0) {
    super(monotonic);
    this.#staleMs = staleMs;
  }

  /**
   * @param date the header of a response.
   * @param sentAt when its request was sent, by {@link now}: the response was made between then and now.
   */
  learn(date: string | null | undefined, sentAt: number): void {
    const second = parseHttpDate(date ?? undefined, Date.now());
    if (second !== undefined) this.learnBetween(second, second + SECOND_MS + this.#staleMs, sentAt);
  }
}
