import type { MemoryBackendOptions } from '../../src/backends/memory.ts';
import type { AcquireRequest } from '../../src/cluster/lock-contract.ts';
import type { Signals } from '../../src/cluster/signal-contract.ts';
import type { InstanceReport, Store } from '../../src/cluster/store-contract.ts';
import type { LockLike, StoreLike } from '../../src/engine/coordinator.ts';
import {
  PeriodicExecutor,
  RefreshingValue,
  type TaskContext,
  type TaskOptions,
  type TicklessEvent,
  type ValueOptions,
} from '../../src/index.ts';
import type { BackendOptions } from '../../src/records/backend-options.ts';
import type { Lock } from '../../src/records/lock/create-lock.ts';
import { memoryRecords } from '../../src/records/memory-records.ts';
import { LOCK, REPORT, SNAPSHOT } from '../../src/records/names.ts';
import type { Claim, Edit, Put, Read, Records } from '../../src/records/records.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { Deferred } from '../../src/time/deferred.ts';
import type { DurationLike } from '../../src/time/duration.ts';
import { recordEvents, recordLines } from './events.ts';
import { ManualLoad } from './manual-load.ts';
import { type Parts, partsOn } from './parts.ts';

/** What is asked of a lock or a store. */
export type Step = 'acquire' | 'extend' | 'release' | 'read' | 'write' | 'confirm' | 'check';

/**
 * What becomes of a command: it does not arrive; it is carried out and its answer is lost; it gets lost without a word;
 * it is carried out and answered when that promise resolves; it arrives only then.
 */
export type Fault =
  | 'refused'
  | 'answer-lost'
  | 'no-answer'
  | Promise<unknown>
  | { readonly arrives: Promise<unknown> };

/** A command that was sent. */
export interface Command {
  readonly step: Step;
  readonly name: string;
  readonly args: readonly unknown[];
  readonly report: InstanceReport | undefined;
}

/** The connection of one instance to the records that all share. Keeps what went over it. */
export class Link {
  readonly backend: Parts;
  readonly lock: Lock;
  readonly store: Store;
  readonly commands: Command[] = [];
  /** What becomes of the next command. */
  fault: (step: Step, command: Command) => Fault | undefined = () => undefined;

  /** @param options of the backend, whose lock and store are of these records. */
  constructor(records: Records, options: BackendOptions = {}) {
    const sent: Records = {
      mostEdits: 1,
      sharesCommands: true,
      apply: (edits) => this.#send(commandOf(edits), () => records.apply(edits)),
      list: (prefix, limit) => {
        const command = { step: 'check', name: 'reports', args: [], report: undefined } as const;
        return this.#send(command, () => records.list(prefix, limit));
      },
      editions: (name, beginning) => {
        const command = { step: 'read', name: partOf(name), args: [], report: undefined } as const;
        return this.#send(command, () => records.editions(name, beginning));
      },
    };
    this.backend = partsOn(sent, options);
    ({ lock: this.lock, store: this.store } = this.backend);
  }

  /** From now on those steps end so; all others are sound. */
  break(fault: Fault, ...steps: readonly Step[]): void {
    this.fault = (step) => (steps.includes(step) ? fault : undefined);
  }

  /** The next such step ends so, and no other. */
  breakOnce(fault: Fault, step: Step): void {
    this.fault = (sent) => {
      if (sent !== step) return undefined;
      this.mend();
      return fault;
    };
  }

  /** From now on those steps are answered when what is returned is resolved. */
  hold(...steps: readonly Step[]): Deferred<void> {
    const answered = new Deferred<void>();
    this.break(answered.promise, ...steps);
    return answered;
  }

  /** The next such step is answered then, and no other waits. */
  holdOnce(step: Step): Deferred<void> {
    const answered = new Deferred<void>();
    this.breakOnce(answered.promise, step);
    return answered;
  }

  mend(): void {
    this.fault = () => undefined;
  }

  /** The steps since the last time, in their order. */
  take(): Step[] {
    return this.commands.splice(0).map(({ step }) => step);
  }

  /** Of the acquires since the last time, in their order. */
  requestIds(): string[] {
    const acquires = this.commands.filter(({ step }) => step === 'acquire');
    return acquires.map(({ args: [request] }) => (request as AcquireRequest).requestId);
  }

  async #send<R>(command: Command, carryOut: () => Promise<R>): Promise<R> {
    const { step } = command;
    this.commands.push(command);
    const fault = this.fault(step, command);
    if (fault === 'refused') throw new Error('ECONNREFUSED');
    if (fault === 'no-answer') return new Promise(() => {});
    if (typeof fault === 'object' && 'arrives' in fault) await fault.arrives;
    const answer = await carryOut();
    if (fault === 'answer-lost') throw new Error('ECONNRESET');
    await fault;
    return answer;
  }
}

function partOf(name: string): string {
  const beginning = [LOCK, SNAPSHOT].find((one) => name.startsWith(one)) ?? '';
  return name.slice(beginning.length);
}

/** The edits of a command as a step: a claim with a look is an acquire, a write with the end of its lease a write. */
function commandOf(all: readonly Edit[]): Command {
  const put = all.find((edit) => edit.op === 'put' && edit.name.startsWith(REPORT)) as Put | undefined;
  const edits = all.filter((edit) => edit !== put);
  const report = put && {
    instance: put.name.slice(put.name.lastIndexOf('/') + 1),
    text: put.text,
    keepFor: put.keepMs as number,
    serial: put.token,
  };
  const of = (step: Step, name: string, ...args: unknown[]): Command => ({
    step,
    name: partOf(name),
    args,
    report,
  });
  const [first] = edits;
  if (first === undefined) return of('check', '', []);
  const { name } = first;
  switch (first.op) {
    case 'claim': {
      const { id: requestId, forMs: leaseFor, force } = first;
      const [, look] = edits as [Claim, Read?];
      return of('acquire', name, { name: partOf(name), requestId, leaseFor, force }, look?.newerThan);
    }
    case 'put':
      return of('write', name, first.text, first.token);
    case 'amend':
      if (name.startsWith(SNAPSHOT)) return of('confirm', name, first.token, first.note);
      return of(first.phase === undefined ? 'extend' : 'release', name, first);
    case 'read': {
      if (first.isBrief !== true) return of('read', name, first.newerThan);
      const names = edits.map((edit) => partOf(edit.name));
      const shown = names.filter((one) => !/(?:^|\/)tickless-control$/.test(one)); // which each check asks about
      return of('check', shown.join(' '), names);
    }
    case 'impose':
    case 'delete':
      return of('write', name);
  }
}

/** The clock of one machine: its wall clock may be wrong, and its process may stand still. */
export class MachineClock {
  readonly #base: FakeClock;
  readonly #wrongBy: number;
  #missed: (() => void)[] | undefined;

  /** @param wrongBy how far its wall clock is ahead, in milliseconds. */
  constructor(base: FakeClock, wrongBy: number = 0) {
    this.#base = base;
    this.#wrongBy = wrongBy;
  }

  now(): number {
    return this.#base.now() + this.#wrongBy;
  }

  monotonic(): number {
    return this.#base.monotonic();
  }

  setTimeout(callback: () => void, delayMs: number): ReturnType<FakeClock['setTimeout']> {
    let isCancelled = false;
    const fire = (): void => {
      if (isCancelled) return;
      if (this.#missed === undefined) callback();
      else this.#missed.push(fire);
    };
    const timer = this.#base.setTimeout(fire, delayMs);
    return {
      ...timer,
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  /** The process stands still: no timer fires, though time goes on. */
  stop(): void {
    this.#missed ??= [];
  }

  /** It goes on; timers fire late. */
  continue(): void {
    const missed = this.#missed ?? [];
    this.#missed = undefined;
    for (const fire of missed) fire();
  }
}

/** One instance of a service. */
export interface Instance {
  readonly value: RefreshingValue<string>;
  readonly manual: ManualLoad<string>;
  readonly link: Link;
  readonly events: TicklessEvent[];
  readonly logger: ReturnType<typeof recordLines>;
  readonly clock: MachineClock;
}

/** As many instances, each with a type of its own where there are only a few. */
type Instances<N extends number> = N extends 1
  ? [Instance]
  : N extends 2
    ? [Instance, Instance]
    : [Instance, ...Instance[]];

/** A task of one instance. */
export interface TaskInstance extends Omit<Instance, 'value'> {
  readonly executor: PeriodicExecutor;
}

/** Parts in place of those of a link. A store that is `undefined`: the member has a lock alone. */
export interface OwnParts {
  readonly lock?: LockLike | undefined;
  readonly store?: StoreLike | undefined;
}

/** The options of a member of a cluster, whose backend may have other parts than its link. */
export type PartedOptions<O> = Partial<O> & OwnParts;

/** The options of a member; without checks unless it says otherwise. */
export function withBackend<O extends OwnParts>(
  link: Link,
  own: O,
): Omit<O, 'lock' | 'store'> & Pick<ValueOptions<string>, 'backend' | 'lock' | 'propagateWithin'> {
  const { lock, store, ...others } = { lock: link.lock, store: link.store, ...own };
  if (store === undefined) return { lock, ...others };
  return { backend: { lock, store }, propagateWithin: WITHOUT_CHECKS, ...others };
}

/** No check of the store comes within the time of a test: its commands are those of the rounds. */
export const WITHOUT_CHECKS = { days: 1000 } as const;

/** Leases last so long here, unless said otherwise. */
export const LEASE_MS = 3000;

/** A lock and a store on a fake clock, and instances that share them. */
export class ManualCluster {
  readonly clock: FakeClock = new FakeClock({ now: '2026-11-20T12:00:00Z' });
  readonly lock: Lock;
  readonly store: Store;

  readonly records: Records;
  readonly options: BackendOptions;
  /** Those of a new instance. */
  signals: () => Signals | undefined = () => undefined;

  /** @param timeout of the lock and the store. @default theirs */
  constructor(store: MemoryBackendOptions = {}, leaseFor: number = LEASE_MS, timeout?: number) {
    const { clock: _, ...options } = store;
    this.options = { leaseFor, ...options, ...(timeout === undefined ? {} : { timeout }) };
    const { clock } = this;
    this.records = memoryRecords(clock);
    ({ lock: this.lock, store: this.store } = partsOn(this.records, this.options, { options: [], clock }));
  }

  link(): Link {
    const signals = this.signals();
    return new Link(this.records, { ...this.options, ...(signals && { signals }) });
  }

  /** An instance with a value of a period of 1 s, that was never loaded. */
  instance(own: PartedOptions<ValueOptions<string>> = {}, wrongBy?: number): Instance {
    const common = this.#common(wrongBy);
    const { link, logger, clock, manual } = common;
    const value = new RefreshingValue<string>({
      name: 'v',
      load: manual.load,
      schedule: 1000,
      retry: false,
      clock,
      logger,
      ...withBackend(link, own),
    });
    return { ...common, value, events: recordEvents(value) };
  }

  /** An instance with a task of a period of 1 s, that was never executed. */
  task(own: PartedOptions<TaskOptions> = {}): TaskInstance {
    const common = this.#common();
    const { link, logger, clock, manual } = common;
    const options = {
      name: 't',
      schedule: 1000,
      retry: false as const,
      clock,
      logger,
      ...withBackend(link, { store: undefined, ...own }),
    };
    const load = (context: TaskContext): Promise<string> => manual.load({ ...context, previous: undefined });
    const executor = new PeriodicExecutor(load, options);
    return { ...common, executor, events: recordEvents(executor) };
  }

  /** Instances of which the first has loaded `one`, and the others have adopted it. */
  async warm<N extends number>(
    count: N,
    own: PartedOptions<ValueOptions<string>> = {},
  ): Promise<Instances<N>> {
    const instances = Array.from({ length: count }, () => this.instance(own));
    const reads = instances.map(({ value }) => value.get());
    await this.clock.flush();
    instances[0]?.manual.call(0).resolve('one');
    await this.clock.advance(100); // the others look again
    await Promise.all(reads);
    for (const { link, events } of instances) {
      link.take();
      events.length = 0;
    }
    return instances as Instances<N>;
  }

  /** Reads a value, and lets what is due begin. */
  async read({ value }: Pick<Instance, 'value'>): Promise<void> {
    value.current;
    await this.clock.flush();
  }

  /** The same after that time. */
  async readAfter(time: DurationLike, instance: Pick<Instance, 'value'>): Promise<void> {
    await this.clock.advance(time);
    await this.read(instance);
  }

  /** Reads all of them each so many milliseconds, for so long. */
  async readFor(instances: readonly Pick<Instance, 'value'>[], ms: number, every = 10): Promise<void> {
    for (let at = 0; at < ms; at += every) {
      for (const { value } of instances) void value.get().catch(() => {});
      await this.clock.advance(every);
    }
  }

  /** Reads a value that is due, and ends its load of that number. */
  async reload(instance: Pick<Instance, 'value' | 'manual'>, call: number, result: string): Promise<void> {
    await this.read(instance);
    await this.end(instance, call, result);
  }

  /** The same after that time. */
  async reloadAfter(time: DurationLike, ...asked: Parameters<ManualCluster['reload']>): Promise<void> {
    await this.clock.advance(time);
    await this.reload(...asked);
  }

  /** Ends the load of that number, and lets the rest of its round follow. */
  async end({ manual }: Pick<Instance, 'manual'>, call: number, result: string): Promise<void> {
    manual.call(call).resolve(result);
    await this.clock.flush();
  }

  /** The same for one that fails. */
  async fail({ manual }: Pick<Instance, 'manual'>, call: number, error: unknown): Promise<void> {
    manual.call(call).reject(error);
    await this.clock.flush();
  }

  /** The whole round of a first read. Resolves with what it read. */
  async load(instance: Pick<Instance, 'value' | 'manual'>, result: string): Promise<string> {
    const read = instance.value.get();
    await this.clock.flush();
    await this.end(instance, 0, result);
    return read;
  }

  /** The whole round of a refresh, which is the load of that number. */
  async refresh(
    instance: Pick<Instance, 'value' | 'manual'>,
    call: number,
    result: string,
    options: { readonly here?: boolean } = {},
  ): Promise<string> {
    const refreshed = instance.value.refresh(options);
    await this.clock.flush();
    await this.end(instance, call, result);
    return refreshed;
  }

  #common(wrongBy?: number): Pick<Instance, 'link' | 'logger' | 'clock' | 'manual'> {
    const link = this.link();
    const clock = new MachineClock(this.clock, wrongBy);
    return { link, logger: recordLines(), clock, manual: new ManualLoad<string>() };
  }
}

type Own = PartedOptions<ValueOptions<string>>;

/** A cluster, and one instance that has loaded `one`. */
export async function warmOne(own?: Own): Promise<{ readonly cluster: ManualCluster; readonly a: Instance }> {
  const cluster = new ManualCluster();
  const [a] = await cluster.warm(1, own);
  return { cluster, a };
}

/** A cluster, and two instances. */
interface Pair {
  readonly cluster: ManualCluster;
  readonly a: Instance;
  readonly b: Instance;
}

/** Of which the first has loaded `one`, and the second has adopted it. */
export async function warmPair(own?: Own): Promise<Pair> {
  const cluster = new ManualCluster();
  const [a, b] = await cluster.warm(2, own);
  return { cluster, a, b };
}

/** That were never loaded. */
export function coldPair(): Pair {
  const cluster = new ManualCluster();
  return { cluster, a: cluster.instance(), b: cluster.instance() };
}

/** A cluster, and an instance that was never loaded. */
export function coldOne(own?: Own): Instance & { readonly cluster: ManualCluster } {
  const cluster = new ManualCluster();
  return { cluster, ...cluster.instance(own) };
}

/** A cluster, and two instances with a task that was never executed. */
export function twoTasks(): {
  readonly cluster: ManualCluster;
  readonly a: TaskInstance;
  readonly b: TaskInstance;
} {
  const cluster = new ManualCluster();
  return { cluster, a: cluster.task(), b: cluster.task() };
}
