import { parseHttpDate } from '../../schedule/http-date.ts';

/** A server's wall clock at this moment, as far as it is known: it is between the two, in epoch milliseconds. */
export interface ClockSpan {
  readonly earliest: number;
  readonly latest: number;
}

/** How far ahead of the machine's monotonic clock the server's clock is, in milliseconds: between the two, as of `at`. */
interface Offset extends ClockSpan {
  readonly at: number;
}

/** A header `Date` counts seconds. */
const SECOND_MS = 1000;

/** How fast the two clocks may drift apart; that of the machine is slewed by at most this much. */
const DRIFT = 500e-6;

/** Servers of one address, whose clocks differ by this much, are one clock. */
const SAME_CLOCK_MS = 250;

/**
 * A server's clock, by the header `Date` of its responses, without commands of its own: each response says in which second
 * it was made, so the first one leaves a second open, and those that come shortly before and after the end of one narrow it
 * down to about the time that a command takes. The machine's monotonic clock counts on.
 */
export class DateClock {
  #offset: Offset | undefined;
  readonly #monotonic: () => number;
  readonly #staleMs: number;

  /** @param staleMs a header may be this much older than its response. */
  constructor(monotonic: () => number, staleMs: number = 0) {
    this.#monotonic = monotonic;
    this.#staleMs = staleMs;
  }

  now(): number {
    return this.#monotonic();
  }

  /**
   * @param date the header of a response.
   * @param sentAt when its request was sent, by {@link now}: the response was made between then and now.
   */
  learn(date: string | null | undefined, sentAt: number): void {
    const second = parseHttpDate(date ?? undefined, Date.now());
    if (second === undefined) return;
    const at = this.#monotonic();
    const seen = { earliest: second - at, latest: second + SECOND_MS + this.#staleMs - sentAt, at };
    this.#offset = this.#offset === undefined ? seen : narrowed(drifted(this.#offset, at), seen);
  }

  /** @throws before the first response with a date. */
  span(): ClockSpan {
    if (this.#offset === undefined) throw new Error('no response of the server has had a header Date');
    const at = this.#monotonic();
    const { earliest, latest } = drifted(this.#offset, at);
    return { earliest: earliest + at, latest: latest + at };
  }
}

function drifted({ earliest, latest, at: then }: Offset, at: number): Offset {
  const drift = (at - then) * DRIFT;
  return { earliest: earliest - drift, latest: latest + drift, at };
}

/** Where the two exclude each other the clock was set, or the machine was suspended: the later one holds. */
function narrowed(known: Offset, seen: Offset): Offset {
  const earliest = Math.max(known.earliest, seen.earliest);
  const latest = Math.min(known.latest, seen.latest);
  if (earliest <= latest) return { earliest, latest, at: seen.at };
  return earliest - latest <= SAME_CLOCK_MS ? { earliest: latest, latest: earliest, at: seen.at } : seen;
}
