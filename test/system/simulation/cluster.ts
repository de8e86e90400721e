import { Backend } from './backend.ts';
import { LeaseBook } from './lease-book.ts';
import { Machine } from './machine.ts';
import { WEATHER } from './network.ts';
import type { Process } from './process.ts';
import type { Random } from './random.ts';
import { Referee } from './referee.ts';
import { drawClockFault, type Faults } from './scenario.ts';
import { Timeline } from './timeline.ts';
import { Trace } from './trace.ts';
import type { Verdict } from './verdict.ts';
import { VersionBook } from './version-book.ts';

/** The options of a cluster. */
interface ClusterOptions {
  readonly seed: number;
  readonly random: Random;
  readonly isTraced: boolean;
  /** The longest hold of a failed round, in milliseconds. */
  readonly longestBackoff: number;
}

/** Processes, their network and the backend that they share: in one process, in virtual time, from one seed. */
export abstract class Cluster<P extends Process = Process> {
  readonly seed: number;
  readonly random: Random;
  readonly timeline: Timeline = new Timeline();
  readonly referee: Referee = new Referee();
  readonly trace: Trace;
  readonly leases: LeaseBook;
  readonly backendMachine: Machine;
  readonly backend: Backend;
  readonly instances: P[] = [];
  /** The instances that closed before the end. Their callers are settled too. */
  readonly closed: P[] = [];
  abstract readonly scenario: Faults & { readonly instances: number };
  /** The source of all instances. Its data change now and then. */
  abstract readonly source: { revision: number };
  #steps = 0;
  #born = 0;
  #last = 0;

  constructor({ seed, random, isTraced, longestBackoff }: ClusterOptions) {
    this.seed = seed;
    this.random = random;
    this.trace = new Trace(isTraced, () => this.timeline.now);
    this.backendMachine = new Machine('backend', this.timeline, random, drawClockFault(random));
    this.leases = new LeaseBook(longestBackoff, this.referee);
    const versions = new VersionBook(this.referee);
    this.backend = new Backend(this.backendMachine, this.leases, versions);
  }

  /** A process, without any value. */
  protected abstract make(name: string, machine: Machine): P;

  /** Checks all rules after each step. */
  protected abstract check(): void;

  protected startAll(): void {
    const { scenario } = this;
    this.trace.add('world', () => JSON.stringify(scenario));
    for (let index = 0; index < scenario.instances; index++) this.instances.push(this.start(index));
  }

  /** The last in the order of loads and changes. */
  get last(): number {
    return this.#last;
  }

  /** The next in the order of loads and changes. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** The instances that have not closed. */
  get open(): P[] {
    return this.instances.filter(({ closing }) => closing === 'no');
  }

  /** Ends all faults. */
  mend(): void {
    this.trace.add('world', () => 'all is mended');
    this.backend.isUp = true;
    for (const { link, machine } of this.instances) {
      link.weather = WEATHER.sound;
      link.dozesFor = 0;
      machine.goOn();
    }
  }

  /** Starts a process. */
  start(index: number): P {
    this.#born += 1;
    const name = `${'ABCDEFGH'[index]}${this.#born}`;
    const machine = new Machine(name, this.timeline, this.random, drawClockFault(this.random));
    const instance = this.make(name, machine);
    this.trace.add(name, () => 'starts');
    return instance;
  }

  /** Suspends a machine for a duration in milliseconds. */
  standStill({ machine, name }: Process, ms: number): void {
    machine.standStill();
    this.trace.add(name, () => 'stands still');
    this.timeline.plan(ms, () => {
      this.trace.add(name, () => 'goes on');
      machine.goOn();
    });
  }

  /** Something that the process in a place does at random times, while it can. */
  nowAndThen(
    index: number,
    everyMs: number,
    isOver: () => boolean,
    act: (instance: P) => void,
    random: Random = this.random,
  ): void {
    const { timeline, instances } = this;
    const again = (): void => {
      if (isOver()) return;
      const instance = instances[index] as P;
      instance.machine.isTouched = true;
      if (instance.machine.isAwake && instance.closing === 'no') act(instance);
      timeline.plan(random.untilNext(everyMs), again);
    };
    timeline.plan(random.untilNext(everyMs), again);
  }

  /** Steps until the condition holds, no event is left, or a rule is violated. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo() && this.timeline.next < Infinity && this.referee.violation === undefined) {
      await this.timeline.step();
      this.#steps += 1;
      this.check();
    }
  }

  /** @param loads the number of loads. */
  protected verdict(loads: number): Verdict {
    const { seed, timeline, referee, trace } = this;
    return {
      seed,
      violation: referee.violation,
      lasted: timeline.now,
      steps: this.#steps,
      loads,
      trace: trace.lines,
    };
  }
}
