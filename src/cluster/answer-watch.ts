import type { Clock, Timer } from '../time/clock.ts';
import { showDuration } from '../time/show-duration.ts';
import { answerTimeoutMs, writeTimeoutMs } from './time-limits.ts';

/** Silence is seen in this many turns of the event loop at least: in one turn of a busy process answers lie unread. */
const TURNS_OF_SILENCE = 4;

/** A backend that answers this slowly is silent after this many times as long. */
const SLOWNESS_FACTOR = 2;

/** A time-out is for as many steps as one command may have; each as many more that are waited for make it longer. */
const STEPS_OF_TIMEOUT = 500;

/** How much of the slowness remains with each quicker answer. */
const SLOWNESS_LEFT = 0.5;

/** A timer may fire up to a millisecond early. */
const EARLY_MS = 1;

/** The backend has answered nothing at all while it was waited for. */
export class SilenceError extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The backend answers others, not this step: that says nothing of the backend. */
export class OverdueError extends Error {
  readonly code = 'ETIMEDOUT';
}

type WatchClock = Pick<Clock, 'monotonic' | 'setTimeout'>;

/** How long a step is waited for, in milliseconds. */
export interface StepLimits {
  /** While the backend answers nothing at all; longer where it has answered slowly. */
  readonly silenceMs: number;
  /** In all, while it answers other steps. @default silenceMs */
  readonly mostMs?: number;
  /** Its name, for the error. */
  readonly step?: string;
}

/** A step that is waited for. Instants are monotonic, `silentFrom` is a reading of `attentiveMs`. */
interface Waiting {
  readonly silentFrom: number;
  readonly silenceMs: number;
  readonly sentAt: number;
  readonly mostMs: number;
  readonly step: string | undefined;
  repeat: (() => void) | undefined;
  fail(error: Error): void;
}

/**
 * Waits for the answers of one backend, and distinguishes a slow backend from a silent one:
 *
 *  - *silent*: for the whole time-out it has answered nothing, neither this step nor another one. The time in which this
 *    process was paused does not count, and less of the time in which its own timers are late: the machine is busy;
 *  - *slow*: it answers, later. Where it has needed longer than half of the time-out, it is silent after twice that time. Where
 *    more than 500 steps are waited for, one time-out is for each 500. Both at most for the time for which clients wait for an answer;
 *  - *overdue*: it answers other steps, but not this one. The step is sent once more after three time-outs, because its
 *    answer may be lost, and the first answer counts.
 *
 * One timer for all steps runs while a step is waited for.
 */
export class AnswerWatch {
  /** After this time a step is sent once more. */
  readonly #repeatAfterMs: number;
  /** The longest silence of a slow backend. */
  readonly #longestSilenceMs: number;
  readonly #onAnswer: (now: number) => void;
  readonly #onSilence: () => void;
  readonly #waiting: Set<Waiting> = new Set();
  /** How long this process could have heard an answer, in milliseconds, as far as it was waiting for one. */
  #attentiveMs = 0;
  #countedAt = 0;
  /** The reading of `#attentiveMs` at the last answer. */
  #heardAt = -Infinity;
  /** How long answers take, in milliseconds, the slow ones above all. */
  #slownessMs = 0;
  #timer: Timer | undefined;
  #timerAt = 0;
  #delayMs = 0;
  /** How much of the time until the timer may still count: a turn of the event loop may take any time. */
  #uncountedMs = 0;

  /**
   * @param onAnswer called with each answer, also with one that is waited for no longer.
   * @param onSilence called before a step fails because of silence.
   */
  constructor(timeoutMs: number, onAnswer: (now: number) => void, onSilence: () => void = () => {}) {
    this.#repeatAfterMs = writeTimeoutMs(timeoutMs);
    this.#longestSilenceMs = answerTimeoutMs(timeoutMs);
    this.#onAnswer = onAnswer;
    this.#onSilence = onSilence;
  }

  /** Hears of the answer of a step that is sent now, and is waited for elsewhere. @returns the same promise. */
  hear<R>(answer: Promise<R>, clock: WatchClock): Promise<R> {
    answer.then(this.#sent(clock), () => {});
    return answer;
  }

  #sent(clock: WatchClock): () => void {
    const sentAt = clock.monotonic();
    return () => {
      const now = clock.monotonic();
      this.#count(now);
      this.#heardAt = this.#attentiveMs;
      this.#slownessMs = Math.max(now - sentAt, SLOWNESS_LEFT * this.#slownessMs);
      this.#onAnswer(now);
    };
  }

  /**
   * Sends a step and waits for its answer. The step may be sent twice, so that it has to be one of which the second time
   * changes nothing.
   *
   * Rejects with the error of the step, with {@link SilenceError} or with {@link OverdueError}.
   *
   * @param late called with each further answer.
   */
  wait<R>(
    step: () => R | PromiseLike<R>,
    clock: WatchClock,
    { silenceMs, mostMs = silenceMs, step: name }: StepLimits,
    late: (answer: R) => void = () => {},
  ): Promise<R> {
    return new Promise((resolve, reject) => {
      let underWay = 0;
      const settle = (): boolean => {
        const isFirst = this.#waiting.delete(waiting);
        if (this.#waiting.size === 0) this.#stop();
        return isFirst;
      };
      const send = (): void => {
        underWay += 1;
        const heard = this.#sent(clock);
        new Promise<R>((start) => start(step())).then(
          (answer) => {
            heard();
            if (settle()) resolve(answer);
            else late(answer);
          },
          (error) => {
            underWay -= 1;
            if (underWay === 0 && settle()) reject(error);
          },
        );
      };
      const sentAt = clock.monotonic();
      this.#count(sentAt);
      const waiting: Waiting = {
        silentFrom: this.#attentiveMs,
        silenceMs,
        sentAt,
        mostMs: Math.max(mostMs, silenceMs),
        step: name,
        repeat: send,
        fail: (error) => void (settle() && reject(error)),
      };
      this.#waiting.add(waiting);
      this.#checkAt(this.#nextCheckOf(waiting, sentAt), sentAt, clock);
      send();
    });
  }

  #count(now: number): void {
    const counted = this.#timer === undefined ? 0 : Math.min(now - this.#countedAt, this.#uncountedMs);
    this.#attentiveMs += counted;
    this.#uncountedMs -= counted;
    this.#countedAt = now;
  }

  #checkAt(instant: number, now: number, clock: WatchClock): void {
    if (this.#timer !== undefined && instant >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = instant;
    this.#delayMs = this.#uncountedMs = Math.max(0, instant - now);
    this.#timer = clock.setTimeout(() => this.#check(clock), this.#delayMs);
  }

  #check(clock: WatchClock): void {
    const now = clock.monotonic();
    this.#count(now);
    const lateMs = Math.max(0, now - this.#timerAt);
    this.#attentiveMs -= (this.#delayMs * lateMs) / (this.#delayMs + lateMs || 1);
    this.#stop();
    for (const waiting of [...this.#waiting]) {
      const { sentAt, mostMs, step, repeat } = waiting;
      const text = `no answer within ${showDuration(Math.round(now - sentAt))}${step === undefined ? '' : ` (${step})`}`;
      if (this.#silenceLeft(waiting) <= EARLY_MS) {
        this.#slownessMs = 0;
        this.#onSilence();
        waiting.fail(new SilenceError(text));
      } else if (now - sentAt >= mostMs - EARLY_MS) waiting.fail(new OverdueError(text));
      else if (repeat !== undefined && now - sentAt >= this.#repeatAfterMs - EARLY_MS) {
        waiting.repeat = undefined;
        repeat();
      }
    }
    for (const waiting of this.#waiting) this.#checkAt(this.#nextCheckOf(waiting, now), now, clock);
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #silenceLeft({ silentFrom, silenceMs, mostMs }: Waiting): number {
    const crowdMs = silenceMs * Math.ceil(this.#waiting.size / STEPS_OF_TIMEOUT);
    const slowMs = Math.max(SLOWNESS_FACTOR * this.#slownessMs, crowdMs);
    const mostSilenceMs = Math.min(slowMs, this.#longestSilenceMs, mostMs);
    return Math.max(silenceMs, mostSilenceMs) - (this.#attentiveMs - Math.max(silentFrom, this.#heardAt));
  }

  #nextCheckOf(waiting: Waiting, now: number): number {
    const { sentAt, silenceMs, mostMs } = waiting;
    const turnMs = Math.min(this.#silenceLeft(waiting), silenceMs / TURNS_OF_SILENCE);
    return Math.min(now + Math.max(0, turnMs), sentAt + mostMs);
  }
}
