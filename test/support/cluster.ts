import { type MemoryBackendOptions, memoryBackend } from '../../src/backends/memory.ts';
import type { AcquireRequest, LockProvider } from '../../src/cluster/lock-contract.ts';
import type { Signals } from '../../src/cluster/signal-contract.ts';
import type {
  InstanceReport,
  SnapshotStore,
  Store,
  StoredSnapshot,
} from '../../src/cluster/store-contract.ts';
import type { LockLike, StoreLike } from '../../src/engine/coordinator.ts';
import {
  type Backend,
  PeriodicExecutor,
  RefreshingValue,
  type TaskContext,
  type TaskOptions,
  type TicklessEvent,
  type ValueOptions,
} from '../../src/index.ts';
import { asLock } from '../../src/records/lock/as-lock.ts';
import type { Lock } from '../../src/records/lock/create-lock.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { Deferred } from '../../src/time/deferred.ts';
import type { DurationLike } from '../../src/time/duration.ts';
import { recordEvents, recordLines } from './events.ts';
import { ManualLoad } from './manual-load.ts';
import { lockOf, methodsOf, storeOf, storeOn } from './parts.ts';
import { recordsOfStore } from './records-of-steps.ts';

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

/** The connection of one instance to the lock and the store that all share. Keeps what went over it. */
export class Link {
  readonly lock: LockProvider;
  readonly store: Store;
  readonly commands: Command[] = [];
  /** What becomes of the next command. */
  fault: (step: Step, command: Command) => Fault | undefined = () => undefined;

  /** @param timeout of both. @default theirs */
  constructor(lock: LockProvider, store: SnapshotStore, timeout?: number, signals?: Signals) {
    const wrapped: LockProvider = {
      ...methodsOf(lock),
      acquire: (request) => this.#send('acquire', request.name, [request], () => lock.acquire(request)),
      extend: (lease, leaseFor) =>
        this.#send('extend', lease.name, [lease, leaseFor], () => lock.extend(lease, leaseFor)),
      release: (lease, outcome) =>
        this.#send('release', lease.name, [lease, outcome], () => lock.release(lease, outcome)),
    };
    this.lock = asLock(wrapped, { timeout });
    /** At the store it has the name that it has by hand. */
    const named = (report: InstanceReport | undefined): InstanceReport | undefined =>
      report && { ...report, instance: report.instance.slice(1) };
    const reported = async <R>(report: InstanceReport | undefined, step: () => Promise<R>): Promise<R> => {
      const left = report && store.versions?.([], named(report));
      const answer = await step();
      await left;
      return answer;
    };
    const records = recordsOfStore({
      takesReports: true,
      history: (name) =>
        this.#send('read', name, [], async () => {
          const versions = (await store.history?.(name)) ?? [];
          return Promise.all(
            versions.map(async ({ version, bytes }) => {
              const read = await store.read(name, undefined, version);
              return { ...(read as StoredSnapshot), bytes };
            }),
          );
        }),
      read: (name, newerThan, version, report) =>
        this.#send(
          'read',
          name,
          [newerThan],
          () => reported(report, () => store.read(name, newerThan, version)),
          report,
        ),
      write: (name, payload, token, rejected, keepFor, report) =>
        this.#send(
          'write',
          name,
          [payload, token],
          () => reported(report, () => store.write(name, payload, token, rejected, keepFor)),
          report,
        ),
      confirm: (name, version, text, report) =>
        this.#send(
          'confirm',
          name,
          [version, text],
          () =>
            reported(
              report,
              async () => (await store.confirm?.(name, version, text)) ?? { kind: 'refused', version: 0 },
            ),
          report,
        ),
      delete: (name) => store.delete(name),
      versions: (names, report) =>
        this.#send(
          'check',
          names.filter((name) => !/(?:^|\/)tickless-control$/.test(name)).join(' '), // which each check asks about
          [names],
          async () => (await store.versions?.(names, named(report))) ?? [],
          report,
        ),
      reports: () =>
        this.#send('check', 'reports', [], async () =>
          ((await store.reports?.()) ?? []).map((one) => ({ ...one, instance: `/${one.instance}` })),
        ),
    });
    const { codec, keepVersions } = store;
    this.store = storeOn(records, { codec, keepVersions, timeout, signals }, { options: [] });
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

  async #send<R>(
    step: Step,
    name: string,
    args: readonly unknown[],
    carryOut: () => Promise<R>,
    report?: InstanceReport,
  ): Promise<R> {
    const command = { step, name, args, report };
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

/** Parts of a backend in place of those of a link; `undefined`: it has none. */
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
): Omit<O, 'lock' | 'store'> & { readonly backend: Backend; readonly propagateWithin?: DurationLike } {
  const { lock, store, ...others } = { lock: link.lock, store: link.store, ...own };
  return { backend: { lock, store }, ...(store && { propagateWithin: WITHOUT_CHECKS }), ...others };
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

  readonly #timeout: number | undefined;
  /** Those of a new instance. */
  signals: () => Signals | undefined = () => undefined;

  /** @param timeout of the lock and the store. @default theirs */
  constructor(store: MemoryBackendOptions = {}, leaseFor: number = LEASE_MS, timeout?: number) {
    this.#timeout = timeout;
    this.lock = lockOf(memoryBackend({ clock: this.clock, leaseFor }));
    this.store = storeOf(memoryBackend({ clock: this.clock, ...store }));
  }

  link(): Link {
    return new Link(this.lock, this.store, this.#timeout, this.signals());
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
