/** A server's wall clock at this moment, as far as it is known: it is between the two, in epoch milliseconds. */
export interface ClockSpan {
  readonly earliest: number;
  readonly latest: number;
}

/** A server's wall clock in an answer: an instant between its command and now, or a span that holds such an instant. */
export type ServerTime = number | ClockSpan;

/**
 * How far ahead of the machine's monotonic clock the server's clock is, in milliseconds: between the two, as of `at`; by answers
 * to commands that were sent until `sentAt`.
 */
interface Offset extends ClockSpan {
  readonly at: number;
  readonly sentAt: number;
}

/** How fast the two clocks may drift apart; that of the machine is slewed by at most this much. */
export const DRIFT: number = 500e-6;

/** Servers of one address, whose clocks differ by this much, are one clock. */
const SAME_CLOCK_MS = 250;

/** A server's clock, as far as its answers tell it. The machine's monotonic clock counts on. */
export class KnownClock {
  #offset: Offset | undefined;
  readonly #monotonic: () => number;
  readonly #isOwn: boolean;

  /** @param isOwn the server counts the time by this clock: it is known exactly. */
  constructor(monotonic: () => number, isOwn: boolean = false) {
    this.#monotonic = monotonic;
    this.#isOwn = isOwn;
  }

  now(): number {
    return this.#monotonic();
  }

  /** @param time in an answer. @param sentAt when its command was sent, by {@link now}. */
  learnTime(time: ServerTime, sentAt: number): void {
    const isRounded = Number.isInteger(time) && !this.#isOwn;
    if (typeof time === 'number') this.learnBetween(time, isRounded ? time + 1 : time, sentAt);
    else this.learnBetween(time.earliest, time.latest, sentAt);
  }

  /** The server's clock was between the two at a moment since then. */
  protected learnBetween(earliest: number, latest: number, since: number): void {
    if (!Number.isFinite(earliest + latest)) return;
    const at = this.#monotonic();
    const seen = { earliest: earliest - at, latest: latest - since, at, sentAt: since };
    this.#offset = this.#offset === undefined ? seen : narrowed(this.#drifted(this.#offset, at), seen);
  }

  /** @throws before the first answer that tells it. */
  span(): ClockSpan {
    if (this.#offset === undefined) throw new Error('no answer of the server has had its clock yet');
    const at = this.#monotonic();
    const { earliest, latest } = this.#drifted(this.#offset, at);
    return { earliest: earliest + at, latest: latest + at };
  }

  #drifted(known: Offset, at: number): Offset {
    const drift = this.#isOwn ? 0 : (at - known.at) * DRIFT;
    return { ...known, earliest: known.earliest - drift, latest: known.latest + drift, at };
  }
}

/** Where the two exclude each other the clock was set, or the machine was suspended: the one that was asked for later holds. */
function narrowed(known: Offset, seen: Offset): Offset {
  const earliest = Math.max(known.earliest, seen.earliest);
  const latest = Math.min(known.latest, seen.latest);
  const last = seen.sentAt >= known.sentAt ? seen : known;
  const { at } = seen;
  if (earliest <= latest) return { ...last, earliest, latest, at };
  return earliest - latest <= SAME_CLOCK_MS ? { ...last, earliest: latest, latest: earliest, at } : last;
}
