import { OverdueError } from '../../cluster/answer-watch.ts';
import { answerTimeoutMs } from '../../cluster/time-limits.ts';
import { type Clock, systemClock, type Timer } from '../../time/clock.ts';
import { Semaphore } from '../../time/semaphore.ts';
import { showDuration } from '../../time/show-duration.ts';
import { withTimeout } from '../../time/with-timeout.ts';

/** How many slots one step asks at a time. */
const MAX_CONCURRENT_SLOTS = 32;

/** A slot that has not answered within this part of the time-out does not keep the next one waiting. */
const PART_OF_PLACE = 0.01;

/** Silence is seen in this many turns of the event loop at least: in one turn of a busy process answers lie unread. */
const TURNS_OF_SILENCE = 4;

/** Where a slot was slow lately, the others are silent after this many times as long. */
const SLOWNESS_FACTOR = 2;

/**
 * Asks several slots of a cluster, which may be on several servers. While none has answered, all are waited for. Where some have,
 * and then there is silence, the rest has failed with an {@link OverdueError}: so the caller, whose patience has an end, has the
 * answers that there are. Later ones are dropped.
 *
 * Slow is not silent: how long a late answer has taken is remembered for as long as one may take, and later steps wait longer.
 */
export class SlotAnswers {
  readonly #timeoutMs: number;
  readonly #clock: Pick<Clock, 'monotonic' | 'setTimeout'>;
  #slownessMs = 0;
  /** Monotonic. */
  #isSlowUntil = -Infinity;

  /** @param timeoutMs the option `timeout`. */
  constructor(timeoutMs: number, clock: Pick<Clock, 'monotonic' | 'setTimeout'> = systemClock) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /**
   * @param patience how long a silence is, as a part of the time-out.
   * @returns the answer or the error of each. Rejects if all have failed.
   */
  of<Q, A>(slots: readonly Q[], ask: (slot: Q) => Promise<A>, patience: number): Promise<(A | Error)[]> {
    if (slots.length === 0) return Promise.resolve([]);
    const clock = this.#clock;
    const startedAt = clock.monotonic();
    const slowMs = startedAt < this.#isSlowUntil ? SLOWNESS_FACTOR * this.#slownessMs : 0;
    const silenceMs = Math.max(patience * this.#timeoutMs, slowMs);
    const places = new Semaphore(MAX_CONCURRENT_SLOTS);
    const settled: Map<Q, A | Error> = new Map();
    let hasAnswer = false;
    let isOver = false;
    let timer: Timer | undefined;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        isOver = true;
        const [first] = settled.values();
        if (!hasAnswer) reject(first);
        else resolve(slots.map((slot) => settled.get(slot) ?? overdue(silenceMs)));
      };
      const listen = (turns: number): void => {
        const next = (): void => (turns > 1 ? listen(turns - 1) : end());
        timer = clock.setTimeout(next, silenceMs / TURNS_OF_SILENCE);
      };
      const settle = (slot: Q, answer: A | Error): void => {
        if (!(answer instanceof Error)) {
          hasAnswer = true;
          this.#heard(startedAt);
        }
        if (isOver) return;
        settled.set(slot, answer);
        timer?.cancel();
        if (settled.size === slots.length) end();
        else if (hasAnswer) listen(TURNS_OF_SILENCE);
      };
      for (const slot of slots) {
        const asked = (): Promise<void> =>
          ask(slot).then(
            (answer) => settle(slot, answer),
            (error) => settle(slot, error instanceof Error ? error : new Error(String(error))),
          );
        const placed = (): Promise<void> => withTimeout(asked, PART_OF_PLACE * this.#timeoutMs, clock);
        void places.run(placed).catch(() => {});
      }
    });
  }

  #heard(startedAt: number): void {
    const now = this.#clock.monotonic();
    const tookMs = now - startedAt;
    if (tookMs < this.#slownessMs && now < this.#isSlowUntil) return;
    this.#slownessMs = tookMs;
    this.#isSlowUntil = now + answerTimeoutMs(this.#timeoutMs);
  }
}

function overdue(silenceMs: number): Error {
  return new OverdueError(
    `no answer within ${showDuration(Math.round(silenceMs))}, while other slots have answered`,
  );
}
