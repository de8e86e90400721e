import { AnswerWatch, OverdueError, SilenceError } from '../cluster/answer-watch.ts';
import type { Commands } from '../cluster/backend-access.ts';
import { writeTimeoutMs } from '../cluster/time-limits.ts';
import { isTicklessError, TicklessError } from '../errors.ts';
import { isText, OptionChecks, ownOptions } from '../option-checks.ts';
import { systemClock } from '../time/clock.ts';
import { NoAnswerError } from '../time/with-timeout.ts';
import type { RecordsKind } from './records-kind.ts';

/** The part that all methods of a lock or a store for use by hand share. */
export class ByHand {
  readonly #about: 'lock' | 'store';
  readonly #kind: RecordsKind;
  readonly #timeoutMs: number;
  readonly #answers: AnswerWatch;

  /**
   * @param kind `longestName` without the namespace.
   * @param commands those that the steps share.
   */
  constructor(about: 'lock' | 'store', kind: RecordsKind, timeoutMs: number, commands: Commands | undefined) {
    this.#about = about;
    this.#kind = ownOptions(kind);
    this.#timeoutMs = timeoutMs;
    // A command that an adapter never settles must not keep all further ones waiting.
    this.#answers = new AnswerWatch(
      timeoutMs,
      () => {},
      () => commands?.silent(),
    );
  }

  /** @throws {TicklessError} `OPTION` when the name, or what `more` checks, breaks a rule. */
  check(name: string, more: (found: OptionChecks) => void = () => {}): void {
    const found = new OptionChecks(isText(name) ? name : this.#about);
    found.name('name', name);
    const { longestName } = this.#kind;
    if (longestName !== undefined && isText(name)) {
      const isShort = new TextEncoder().encode(name).length <= longestName;
      found.that(isShort, 'name', `must be at most ${longestName} bytes long`, name);
    }
    more(found);
    found.done();
  }

  /**
   * Takes a step within its time; it is longer while the backend answers others, which is slow, not dead. Rejects with that it is
   * unavailable, or with the `OPTION` of the step.
   */
  async ask<R>(name: string, step: () => Promise<R>, limitMs: number = this.#timeoutMs): Promise<R> {
    const { clock = systemClock, explain = (error: unknown) => error } = this.#kind;
    const limits = { silenceMs: limitMs, mostMs: writeTimeoutMs(this.#timeoutMs) };
    try {
      return await this.#answers.wait(step, clock, limits);
    } catch (thrown) {
      if (isTicklessError(thrown, 'OPTION')) throw thrown;
      const isUnanswered = thrown instanceof SilenceError || thrown instanceof OverdueError;
      const cause = explain(isUnanswered ? new NoAnswerError(limitMs) : thrown);
      const message = cause instanceof Error ? cause.message || cause.name : String(cause);
      throw new TicklessError('BACKEND_DOWN', `the backend is unavailable: ${message}`, {
        member: name,
        cause,
      });
    }
  }
}
