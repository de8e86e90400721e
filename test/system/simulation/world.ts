import { Actions } from './actions.ts';
import { Commands } from './commands.ts';
import { Engine } from './engine.ts';
import { Instance } from './instance.ts';
import { LeaseBook } from './lease-book.ts';
import { Leases } from './leases.ts';
import { Machine } from './machine.ts';
import { Misfortunes } from './misfortunes.ts';
import { type Message, WEATHER, type Wire, wordsOfAnswer } from './network.ts';
import { Nightly } from './nightly.ts';
import { Random } from './random.ts';
import { Referee } from './referee.ts';
import { Rest } from './rest.ts';
import { drawClockFault, drawScenario, type Scenario } from './scenario.ts';
import { Source } from './source.ts';
import type { Change, LoadRun, Subject } from './subject.ts';
import { Timeline } from './timeline.ts';
import { Trace } from './trace.ts';
import type { Verdict } from './verdict.ts';
import { VersionBook } from './version-book.ts';

/** When a value was loaded, and when it was last said to be unchanged; by the clock of the world. */
interface Freshness {
  readonly firstAt: number;
  lastAt: number;
  /** The load that brought it, or said so last. */
  by: LoadRun | undefined;
}

/** A cluster in one process, in virtual time, from one seed. */
export class World {
  readonly seed: number;
  readonly random: Random;
  readonly scenario: Scenario;
  readonly timeline: Timeline = new Timeline();
  readonly referee: Referee = new Referee();
  readonly trace: Trace;
  readonly leases: LeaseBook;
  readonly engineMachine: Machine;
  readonly engine: Engine;
  readonly source: Source;
  readonly runs: Map<number, LoadRun> = new Map();
  readonly freshness: Map<number, Freshness> = new Map();
  /** The loads that said themselves when the next one is to be. */
  readonly said: Set<number> = new Set();
  /** Those that gave their values a tag. */
  readonly tagged: Set<number> = new Set();
  /** The leases, by name and token, under which a load has succeeded. */
  readonly completed: Set<string> = new Set();
  readonly instances: Instance[] = [];
  /** Those that have closed before the end. Who has called them is answered too. */
  readonly closed: Instance[] = [];
  readonly actions: Actions;
  readonly misfortunes: Misfortunes;
  readonly commands: Commands;
  readonly nightly: Nightly;
  readonly #leaseWatch: Leases;
  readonly #rest: Rest;
  readonly #writesSent: Map<string, number> = new Map();
  readonly #slowestWrites: Map<string, number> = new Map();
  #last = 0;
  #steps = 0;
  #born = 0;

  constructor(seed: number, isTraced: boolean = false) {
    this.seed = seed;
    this.random = new Random(seed);
    this.scenario = drawScenario(this.random);
    this.trace = new Trace(isTraced, () => this.timeline.now);
    this.engineMachine = new Machine('engine', this.timeline, this.random, drawClockFault(this.random));
    this.leases = new LeaseBook(this.scenario.coolDown.initial, this.referee);
    this.engine = new Engine(this.engineMachine, this.leases, new VersionBook(this.referee));
    this.source = new Source(this);
    this.#leaseWatch = new Leases(this);
    this.commands = new Commands(this);
    this.nightly = new Nightly(this);
    this.#rest = new Rest(this);
    this.actions = new Actions(this);
    this.misfortunes = new Misfortunes(this);
    this.trace.tell('world', () => JSON.stringify(this.scenario));
    for (let index = 0; index < this.scenario.instances; index++) this.instances.push(this.start(index));
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

  /** A process starts, with empty hands. */
  start(index: number): Instance {
    this.#born += 1;
    const name = `${'ABCDEFGH'[index]}${this.#born}`;
    const machine = new Machine(name, this.timeline, this.random, drawClockFault(this.random));
    const instance = new Instance(name, machine, this);
    this.trace.tell(name, () => 'starts');
    return instance;
  }

  /** A machine stands still for so long. */
  standStill({ machine, name }: Instance, ms: number): void {
    machine.standStill();
    this.trace.tell(name, () => 'stands still');
    this.timeline.plan(ms, () => {
      this.trace.tell(name, () => 'goes on');
      machine.goOn();
    });
  }

  /** Lets all happen, mends what is broken, and looks whether all comes to rest. */
  async run(): Promise<Verdict> {
    const { lasts } = this.scenario;
    this.actions.begin();
    this.misfortunes.begin();
    await this.until(() => this.timeline.now >= lasts);
    this.commands.count();
    if (this.referee.violation === undefined) await this.#rest.come();
    const { seed, timeline, referee, trace } = this;
    return {
      seed,
      violation: referee.violation,
      lasted: timeline.now,
      steps: this.#steps,
      loads: this.runs.size,
      trace: trace.lines,
    };
  }

  /** Steps on until that is so, or nothing happens any more, or a rule did not hold. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo() && this.timeline.next < Infinity && this.referee.violation === undefined) {
      await this.timeline.step();
      this.#steps += 1;
      this.check();
    }
  }

  /** All rules, after each step. */
  check(): void {
    this.#leaseWatch.stepped();
    this.commands.stepped();
    for (const instance of this.instances) {
      const { machine, subjects } = instance;
      if (machine.hasCrashed || !machine.isTouched) continue;
      machine.isTouched = false;
      for (const subject of subjects.values()) {
        if (instance.isUnseen) subject.unseen();
        else subject.stepped();
      }
      if (!instance.isUnseen) this.#rest.stepped(instance);
    }
  }

  /** Something is done to a subject by hand: tells who watches it. */
  change(subject: Subject, kind: Change['kind'], value?: Change['value']): void {
    const order = this.next();
    this.trace.tell(subject.id, () => `${kind} (${order})`);
    subject.changed({ kind, order, at: this.timeline.now, ...(value && { value }) });
  }

  /** A load has ended: what it brought is as old as from now. */
  freshened(run: LoadRun): void {
    const { serial, subject, brought, wasStopped } = run;
    const { now } = this.timeline;
    if (brought !== 'error') this.completed.add(`${subject.options.lockName} ${run.token}`);
    if (brought === 'value') this.freshness.set(serial, { firstAt: now, lastAt: now, by: run });
    const held = subject.peek()?.serial;
    const known = held === undefined ? undefined : this.freshness.get(held);
    if (brought !== 'kept' || known === undefined || wasStopped) return;
    known.lastAt = now;
    known.by = run;
  }

  /** The longest time that a snapshot of that name took to arrive in the store. */
  slowestWrite(name: string): number {
    return this.#slowestWrites.get(name) ?? 0;
  }

  /** The longest way of a message. */
  get slowestWay(): number {
    return WEATHER.slow.longestWay;
  }

  wireOf(instance: Instance): Wire {
    const who = (): string => instance.name;
    const what = ({ step, name, token }: Message): string => `${step} ${name}${token ? ` ${token}` : ''}`;
    return {
      sent: (message) => {
        this.trace.tell(who(), () => `${what(message)} →`);
        const { payload = '' } = message;
        if (!this.#writesSent.has(payload)) this.#writesSent.set(payload, this.timeline.now);
        this.#leaseWatch.sent(instance, message);
        this.commands.sent(instance, message);
        this.nightly.sent(message);
        this.#rest.sent(instance, message);
      },
      failed: (message, how) => this.trace.tell(who(), () => `${what(message)} ${how}`),
      arrived: (message, answer) => {
        this.trace.tell('engine', () => `${what(message)} of ${who()}: ${wordsOfAnswer(answer)}`);
        const { payload = '', name } = message;
        const took = this.timeline.now - (this.#writesSent.get(payload) ?? 0);
        if (message.step === 'write') this.#slowestWrites.set(name, Math.max(took, this.slowestWrite(name)));
      },
    };
  }

  /** A listener of the instance does what listeners should not. */
  meddle(instance: Instance, type: string): void {
    if (!this.scenario.hasMeddlers || this.actions.isOver || !this.random.chance(0.02)) return;
    if (this.random.chance(0.3)) throw new Error(`a listener to ${type} throws`);
    this.actions.read(instance);
  }
}
