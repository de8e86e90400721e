import { Actions } from './actions.ts';
import { Cluster } from './cluster.ts';
import { Commands } from './commands.ts';
import { Instance } from './instance.ts';
import { Leases } from './leases.ts';
import type { Machine } from './machine.ts';
import { isWrite, type Message, wordsOfAnswer, wordsOfEffect, wordsOfMessage } from './message.ts';
import { engineClock, Misfortunes, moodOf } from './misfortunes.ts';
import { CLIENT_TIMEOUT_MS, strangeSwap, WEATHER, type Wire } from './network.ts';
import { Nightly } from './nightly.ts';
import { Random } from './random.ts';
import { Rest } from './rest.ts';
import { drawScenario, type Scenario } from './scenario.ts';
import { MOODS, Source } from './source.ts';
import type { Change, LoadRun, Subject } from './subject.ts';
import type { Verdict } from './verdict.ts';

/** When a value was loaded, and when it was last confirmed; by the clock of the world. */
interface Freshness {
  readonly firstAt: number;
  lastAt: number;
  /** The load that returned it, or last confirmed it. */
  by: LoadRun | undefined;
}

/** A cluster whose members are of all kinds: values, keys, tasks, a group. */
export class World extends Cluster<Instance> {
  readonly scenario: Scenario;
  readonly source: Source;
  readonly runs: Map<number, LoadRun> = new Map();
  readonly freshness: Map<number, Freshness> = new Map();
  /** The loads that returned their own next execute time. */
  readonly said: Set<number> = new Set();
  /** The loads that returned tags. */
  readonly tagged: Set<number> = new Set();
  /** The leases with a successful load, by name and token. */
  readonly completed: Set<string> = new Set();
  readonly actions: Actions;
  readonly misfortunes: Misfortunes<World>;
  readonly commands: Commands;
  readonly nightly: Nightly;
  readonly #leaseWatch: Leases;
  readonly #rest: Rest;
  readonly #writesSent: Map<string, number> = new Map();
  readonly #readsUnderWay: Map<Message, number> = new Map();
  #slowestRead = 0;
  readonly #slowestWrites: Map<string, number> = new Map();
  readonly #writesUnderWay: Map<Message, number> = new Map();
  /** The last arrival of a write of a name with a token for which its sender no longer waited. */
  readonly #stragglers: Map<string, number> = new Map();

  constructor(seed: number, isTraced: boolean = false) {
    const random = new Random(seed);
    const scenario = drawScenario(random);
    const longestBackoff = scenario.coolDown.initial;
    super({ seed, random, isTraced, longestBackoff });
    this.scenario = scenario;
    this.source = new Source(this);
    this.#leaseWatch = new Leases(this);
    this.commands = new Commands(this);
    this.nightly = new Nightly(this);
    this.#rest = new Rest(this);
    this.actions = new Actions(this);
    this.misfortunes = new Misfortunes<World>(this, {
      engineClock,
      mood: moodOf(8, MOODS, ['well', 'well', 'ill', 'down']),
    });
    this.startAll();
  }

  protected override make(name: string, machine: Machine): Instance {
    return new Instance(name, machine, this);
  }

  /** Runs all events, repairs the faults, and checks that the world comes to rest. */
  async run(): Promise<Verdict> {
    const { lasts } = this.scenario;
    this.actions.begin();
    this.misfortunes.begin();
    await this.until(() => this.timeline.now >= lasts);
    this.commands.count();
    if (this.referee.violation === undefined) await this.#rest.come();
    return this.verdict(this.runs.size);
  }

  protected override check(): void {
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

  /** Reports a change of a subject by hand to its watches. */
  change(subject: Subject, kind: Change['kind'], value?: Change['value']): void {
    const order = this.next();
    this.trace.add(subject.id, () => `${kind} (${order})`);
    subject.changed({ kind, order, at: this.timeline.now, ...(value && { value }) });
  }

  /** Records the end of a load: the age of its value begins now. */
  freshened(run: LoadRun): void {
    const { serial, subject, brought, wasStopped } = run;
    const { now } = this.timeline;
    if (brought !== 'error') this.completed.add(`${subject.options.lockName} ${run.token}`);
    if (brought === 'value') this.freshness.set(serial, { firstAt: now, lastAt: now, by: run });
    const held = run.same ?? subject.peek()?.serial;
    const known = held === undefined ? undefined : this.freshness.get(held);
    if ((brought !== 'kept' && brought !== 'same') || known === undefined || wasStopped) return;
    known.lastAt = now;
    known.by = run;
  }

  /** The longest time of a snapshot of that name until it arrived in the store. */
  slowestWrite(name: string): number {
    return this.#slowestWrites.get(name) ?? 0;
  }

  /**
   * Whether the snapshot of a load may be taken for one that ended after that instant: its write arrived after it, when
   * the sender no longer waited, or arrived a second time.
   */
  mayLookYounger({ options }: Subject, { token }: LoadRun, at: number): boolean {
    return (this.#stragglers.get(`${options.lockName} ${token}`) ?? 0) > at;
  }

  /**
   * How much older a snapshot may look: neither its writer nor its reader knows the clock of the backend better than by a command, and its
   * reader counts the time of the answer twice.
   */
  get mostClockError(): number {
    return 4 * WEATHER.slow.longestWay + this.#slowestRead + this.backend.steppedMs;
  }

  /** @param instanceOf the process, once it is made. */
  wireOf(name: string, instanceOf: () => Instance): Wire {
    return {
      sent: (message) => {
        this.trace.add(name, () => `${wordsOfMessage(message)} →`);
        const { payload = '' } = message;
        const instance = instanceOf();
        const madeAt = this.timeline.now - instance.link.hasWaitedMs;
        if (!this.#writesSent.has(payload)) this.#writesSent.set(payload, madeAt);
        this.#leaseWatch.sent(instance, message);
        if (isWrite(message.step) || message.as === 'done')
          this.#writesUnderWay.set(message, this.timeline.now);
        if (message.step === 'read') this.#readsUnderWay.set(message, this.timeline.now);
        this.commands.sent(instance, message);
        this.nightly.sent(message);
        this.#rest.sent(instance, message);
      },
      commanded: (messages) => this.commands.commanded(messages),
      failed: (message, how) => this.trace.add(name, () => `${wordsOfMessage(message)} ${how}`),
      dozes: (ms) => this.trace.add(name, () => `stands still for ${ms.toFixed(0)} ms before it sends`),
      strange: (effect) => strangeSwap(this.referee, name, effect),
      answered: (message, answer) => {
        this.trace.add(name, () => `${wordsOfMessage(message)}: ${wordsOfAnswer(answer)}`);
        const { now } = this.timeline;
        this.#slowestRead = Math.max(this.#slowestRead, now - (this.#readsUnderWay.get(message) ?? now));
        this.#readsUnderWay.delete(message);
      },
      arrived: (message, effect) => {
        this.trace.add('backend', () => `${wordsOfEffect(effect)} of ${name}`);
        if (isWrite(message.step)) this.#writeArrived(message);
        else if (message.as === 'done') this.#releaseArrived(message);
      },
    };
  }

  /** It may confirm the value: the age in it does not include its way. */
  #releaseArrived(message: Message): void {
    const took = this.timeline.now - (this.#writesUnderWay.get(message) ?? this.timeline.now);
    this.#slowestWrites.set(message.name, Math.max(took, this.slowestWrite(message.name)));
  }

  #writeArrived(message: Message): void {
    const { payload = '', name, token } = message;
    const { now } = this.timeline;
    const took = now - (this.#writesSent.get(payload) ?? 0);
    this.#slowestWrites.set(name, Math.max(took, this.slowestWrite(name)));
    const sentAt = this.#writesUnderWay.get(message) ?? Number.NEGATIVE_INFINITY;
    this.#writesUnderWay.delete(message);
    if (now - sentAt > CLIENT_TIMEOUT_MS) this.#stragglers.set(`${name} ${token}`, now);
  }

  /** A misbehaving listener of the instance. */
  meddle(instance: Instance, type: string): void {
    if (!this.scenario.hasMeddlers || this.actions.isOver || !this.random.chance(0.02)) return;
    if (this.random.chance(0.3)) throw new Error(`a listener to ${type} throws`);
    this.actions.read(instance);
  }
}
