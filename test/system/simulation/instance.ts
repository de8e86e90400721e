import {
  type EventOf,
  type EventType,
  type LockedContext,
  lockedTask,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
} from '../../../src/index.ts';
import type { Machine } from './machine.ts';
import { Link } from './network.ts';
import { NO_CHECKS_MS, Process } from './process.ts';
import type { Loaded, Subject } from './subject.ts';
import { subjectsOf } from './subjects.ts';
import { wordsOf } from './words.ts';
import type { World } from './world.ts';

/** The keys that are read. */
export const KEYS: readonly string[] = ['1', '2', '3', '4'];

/** The value with a calendar schedule is due at each multiple of this by the wall clock. */
export const CALENDAR_MS = 600_000;

/** One process of the service: its values, keys and tasks. */
export class Instance extends Process {
  readonly rates: RefreshingValue<Loaded>;
  readonly local: RefreshingValue<Loaded>;
  readonly calendar: RefreshingValue<Loaded>;
  readonly codes: RefreshingCache<string, Loaded>;
  readonly report: PeriodicExecutor;
  readonly nightly: () => Promise<unknown>;
  readonly group: RefreshGroup | undefined;
  readonly subjects: Map<string, Subject>;
  readonly world: World;
  /** The member whose event is being heard. */
  emitting: string | undefined;

  constructor(name: string, machine: Machine, world: World) {
    const { scenario, timeline, random, backend } = world;
    const wire = world.wireOf(name, () => this);
    const isForManyNames = scenario.isBatched;
    const link = new Link(machine, backend, timeline, random, wire, scenario.leaseFor, { isForManyNames });
    super(name, machine, link, world);
    this.world = world;
    const { lock, store } = link;
    const { period, timeout, coolDown, maxStaleness, whenTooStale, retries } = scenario;
    const { piggyback, concurrency } = scenario;
    const equals = (before: Loaded, now: Loaded): boolean => before.serial === now.serial;
    const unchanged =
      scenario.unchanged === 'by serial' ? { unchanged: equals } : { unchanged: scenario.unchanged };
    const common = {
      clock: machine,
      random: () => random.next(),
      logger: false,
      timeout,
      coolDown,
      retry: retries > 0 ? { retries, minTimeout: 40, randomize: false } : (false as const),
    } as const;
    const shared = {
      ...(scenario.hasStore ? { backend: { lock, store } } : scenario.hasLock ? { lock } : {}),
      ...(scenario.hasLock ? { whenBackendDown: scenario.whenBackendDown } : {}),
      ...(scenario.hasStore ? { propagateWithin: NO_CHECKS_MS } : {}), // other worlds have checks
    };
    this.group = scenario.isGrouped
      ? new RefreshGroup({ piggyback, concurrency, clock: machine, logger: false })
      : undefined;
    const member = this.group === undefined ? {} : { group: this.group };
    const limits = maxStaleness === Infinity ? {} : { maxStaleness, whenTooStale };
    const load = (name: string) => (context: Parameters<World['source']['load']>[1]) =>
      world.source.load(this.#subject(name), context) as Promise<Loaded>;

    this.rates = new RefreshingValue<Loaded>({
      name: 'rates',
      load: load('rates'),
      schedule: period,
      ...common,
      ...unchanged,
      ...shared,
      ...limits,
    });
    this.local = new RefreshingValue<Loaded>({
      name: 'local',
      load: load('local'),
      schedule: period,
      ...common,
      ...unchanged,
      ...member,
    });
    this.calendar = new RefreshingValue<Loaded>({
      name: 'calendar',
      load: load('calendar'),
      schedule: ({ since, endedAt }) => (Math.floor((since ?? endedAt) / CALENDAR_MS) + 1) * CALENDAR_MS,
      ...common,
      ...unchanged,
      ...member,
    });
    const loadKey = (key: string, context: Parameters<World['source']['load']>[1]): Promise<Loaded> =>
      world.source.load(this.#subject(`codes[${key}]`), context) as Promise<Loaded>;
    this.codes = new RefreshingCache<string, Loaded>({
      name: 'codes',
      ...(scenario.isBatched
        ? {
            loadMany: async (keys, context) => {
              const batch = { takes: random.between(0, 100) };
              const answers = keys.map(async (key) => {
                const about = { ...context, previous: context.previous.get(key) };
                const { source } = world;
                const answer = source.load(this.#subject(`codes[${key}]`), about, batch) as Promise<Loaded>;
                return [key, await answer.catch((error: Error) => error)] as const;
              });
              return new Map(await Promise.all(answers));
            },
          }
        : { load: loadKey }),
      schedule: period,
      max: scenario.maxKeys,
      absentFor: period,
      ...common,
      ...unchanged,
      ...(scenario.hasKeyLocks ? shared : {}),
      ...limits,
    });
    this.report = new PeriodicExecutor(
      async (context) =>
        void (await world.source.load(this.#subject('report'), { ...context, previous: undefined })),
      {
        name: 'report',
        schedule: period,
        ...common,
        ...(scenario.hasLock ? { lock } : {}),
        ...member,
      },
    );
    this.nightly = lockedTask((context) => this.#runNightly(context), {
      name: 'nightly',
      lock,
      lockAtLeastFor: scenario.leaseFor / 2,
      clock: machine,
    });
    this.subjects = subjectsOf(this);
    for (const part of [...this.singles, this.codes]) {
      part.on('*', (event) => this.#emitted(event));
    }
  }

  /** The members with a due time of their own. */
  get singles(): readonly (RefreshingValue<Loaded> | PeriodicExecutor)[] {
    return [this.rates, this.local, this.calendar, this.report];
  }

  subject(id: string): Subject {
    return this.#subject(id);
  }

  override get isLoading(): boolean {
    return [...this.subjects.values()].some(({ running }) => running.size > 0);
  }

  resume(): void {
    // One after the other: a listener to the first may read the next.
    for (const name of ['rates', 'local', 'calendar'] as const) {
      this.world.change(this.subject(name), 'resume');
      this[name].resume({ here: true });
    }
    for (const part of [this.report, this.codes]) part.resume({ here: true });
  }

  protected override closeAll(timeout: number): Promise<unknown> {
    for (const subject of this.subjects.values()) this.world.change(subject, 'close');
    const parts = [...this.singles, this.codes, ...(this.group === undefined ? [] : [this.group])];
    return Promise.all(parts.map((part) => part.close({ timeout })));
  }

  #runNightly({ signal, token }: LockedContext): unknown {
    return this.world.source.load(this.#subject('nightly'), {
      signal,
      token,
      attempt: 1,
      trigger: 'first',
      previous: undefined,
    });
  }

  #subject(id: string): Subject {
    return this.subjects.get(id) as Subject;
  }

  #emitted(event: EventOf<EventType>): void {
    const { key } = event as { readonly key?: unknown };
    this.world.trace.add(
      this.name,
      () => `${event.name}${key === undefined ? '' : `[${key}]`}: ${wordsOf(event)}`,
    );
    if (key !== undefined) this.#subject(`codes[${key}]`).emitted(event);
    else if (event.name !== 'codes') this.#subject(event.name).emitted(event);
    this.emitting = event.name;
    try {
      this.world.meddle(this, event.type);
    } finally {
      this.emitting = undefined;
    }
  }
}
