import type { Backend } from '../../engine/backend.ts';
import type { Clock } from '../../time/clock.ts';
import type { DurationLike } from '../../time/duration.ts';
import { finiteMs } from '../fake-clock.ts';
import { VirtualMachine } from './virtual-machine.ts';

/** The surroundings of one process, for the members of its service. Each start of a process has objects of its own. */
export interface VirtualProcess<T, A extends unknown[] = []> {
  /** `instance-1`, `instance-2`, … */
  readonly name: string;
  /** For the option `clock`. */
  readonly clock: Clock;
  /** For the option `backend`. */
  readonly backend: Backend;
  /** For the option `random`: numbers from the seed. */
  readonly random: () => number;
  /** Calls the source of the cluster; for the option `load`, or within it. */
  readonly source: (...args: A) => Promise<T>;
}

/** Starts the service of one instance. @internal */
export type StartProcess<S> = (name: string, machine: VirtualMachine) => S;

/**
 * One instance of the service: a process that may be killed, restarted, stopped and continued. Each method does nothing
 * where the instance is in that state already.
 */
export class VirtualInstance<S> {
  /** `instance-1`, `instance-2`, … */
  readonly name: string;
  readonly #start: StartProcess<S>;
  readonly #time: Clock;
  #aheadMs = 0;
  #machine: VirtualMachine;
  #service: { readonly service: S } | undefined;

  /** @internal */
  constructor(name: string, time: Clock, start: StartProcess<S>) {
    this.name = name;
    this.#time = time;
    this.#start = start;
    this.#machine = this.#newMachine();
    this.#service = { service: start(name, this.#machine) };
  }

  /** The result of the callback `service`, of the present process. @throws {Error} while the instance is killed. */
  get service(): S {
    if (this.#service === undefined) throw new Error(`${this.name} is killed; restart() starts it again`);
    return this.#service.service;
  }

  /** Whether it is neither killed nor stopped. */
  get isRunning(): boolean {
    return this.#service !== undefined && !this.#machine.isStopped;
  }

  /**
   * Ends the process at once, without a `close()`: its timers never fire, it sends nothing more, and answers to it are
   * dropped, so its reads and loads that wait never settle. Commands that it has sent are carried out.
   */
  kill(): void {
    this.#machine.kill();
    this.#service = undefined;
  }

  /** Starts it again, with nothing in memory: calls the callback `service`. A process that runs or is stopped is killed first. */
  restart(): void {
    this.kill();
    this.#machine = this.#newMachine();
    this.#service = { service: this.#start(this.name, this.#machine) };
  }

  /** Suspends the process, as a long garbage collection or SIGSTOP does: its timers, calls and answers wait, and time goes on. */
  stop(): void {
    this.#machine.stop();
  }

  /** The process goes on; timers, calls and answers that waited come at once, in their order. */
  continue(): void {
    this.#machine.continue();
  }

  /**
   * Steps the wall clock of the machine of this instance only, forwards or backwards; it stays so over restarts.
   *
   * @throws {TicklessError} `OPTION` when the duration is invalid or infinite.
   */
  stepWall(duration: DurationLike): void {
    this.#aheadMs += finiteMs(this.name, duration);
  }

  #newMachine(): VirtualMachine {
    return new VirtualMachine(this.#time, () => this.#aheadMs);
  }
}
