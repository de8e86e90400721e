import { checked } from '../../option-checks.ts';
import type { Clock } from '../../time/clock.ts';
import type { DurationLike } from '../../time/duration.ts';
import type { VirtualMachine } from './virtual-machine.ts';

/** One call of an instance. */
export interface VirtualCall {
  /** The name of the instance. */
  readonly instance: string;
  /** Milliseconds since the beginning of the cluster. */
  readonly at: number;
}

type Condition =
  | { readonly kind: 'up' }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'down'; readonly error: () => unknown }
  | { readonly kind: 'silent' };

/**
 * A system that all instances call: the source, or the backend of the lock or the store. It is in one of four conditions,
 * which the test changes at any time: up (as it begins), slow, down or silent. The last call holds.
 */
export class VirtualRemote {
  /** All calls so far, in their order. A test may empty it. */
  readonly calls: VirtualCall[] = [];
  readonly #name: string;
  readonly #time: Clock;
  #condition: Condition = { kind: 'up' };

  /** @internal @param name for error messages. */
  constructor(name: string, time: Clock) {
    this.#name = name;
    this.#time = time;
  }

  /** Answers at once again. Calls that got no answer meanwhile never get one. */
  up(): void {
    this.#condition = { kind: 'up' };
  }

  /**
   * Each call takes that long: the call is carried out after half of it, and its answer arrives after all of it. A caller whose
   * time-out is over by then does not prevent that.
   *
   * @throws {TicklessError} `OPTION` when the duration is invalid, negative or infinite.
   */
  slow(duration: DurationLike): void {
    const ms = checked(this.#name, (checks) => checks.finiteDurationFromZero('slow', duration));
    this.#condition = { kind: 'slow', ms };
  }

  /** Each call fails at once and is not carried out. @param error what it fails with. @default an `Error` with the code ECONNREFUSED */
  down(error?: unknown): void {
    this.#condition = { kind: 'down', error: () => error ?? refused(this.#name) };
  }

  /** No call is carried out or answered: callers wait until they give up, as with a cable that is cut. */
  silent(): void {
    this.#condition = { kind: 'silent' };
  }

  /** @internal Carries out a call of an instance, as the condition says. */
  ask<R>(instance: string, machine: VirtualMachine, carryOut: () => R | Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      const receive = (settle: () => void, ms: number): void => this.#after(ms, () => machine.run(settle));
      const arrive = (ms: number): void => {
        const condition = this.#condition;
        if (condition.kind === 'silent') return;
        const isDown = condition.kind === 'down';
        const answered = isDown ? Promise.reject(condition.error()) : (async () => carryOut())();
        answered.then(
          (answer) => receive(() => resolve(answer), ms),
          (error: unknown) => receive(() => reject(error), ms),
        );
      };
      machine.run(() => {
        this.calls.push({ instance, at: this.#time.monotonic() });
        const half = this.#condition.kind === 'slow' ? this.#condition.ms / 2 : 0;
        this.#after(half, () => arrive(half));
      });
    });
  }

  #after(ms: number, job: () => void): void {
    if (ms === 0) job();
    else this.#time.setTimeout(job, ms);
  }
}

function refused(name: string): Error {
  return Object.assign(new Error(`connect ECONNREFUSED: the ${name} is down`), { code: 'ECONNREFUSED' });
}
