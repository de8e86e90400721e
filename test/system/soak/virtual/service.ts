import { setMaxListeners } from 'node:events';
import { cron } from '../../../../src/calendar/index.ts';
import {
  fixedRate,
  lockedTask,
  type PeriodicExecutor,
  RefreshGroup,
  type RefreshingCache,
  RefreshingValue,
  withJitter,
} from '../../../../src/index.ts';
import { type Link, MachineClock } from '../../../support/cluster.ts';
import { load, loadKey, type Payload, payload, TIMEOUT_MS } from './source.ts';
import type { World } from './world.ts';

export type Value = RefreshingValue<Payload>;
export type Cache = RefreshingCache<number, Payload>;

/** An instance of a service: a group with members of each kind, some of them shared with the other instances. */
export class Service {
  readonly clock: MachineClock;
  readonly link: Link;
  readonly group: RefreshGroup;
  readonly values: readonly Value[];
  readonly caches: readonly Cache[];
  readonly executors: readonly PeriodicExecutor[];
  /** Not members of the group, so they are not closed with it. */
  readonly alone: Value;
  readonly task: () => Promise<unknown>;
  readonly #world: World;

  /** @param wrongBy how far its wall clock is ahead, in milliseconds. */
  constructor(world: World, wrongBy: number) {
    const { cluster, dice, census } = world;
    const clock = new MachineClock(cluster.clock, wrongBy);
    const link = cluster.link();
    const shared = { backend: { lock: link.lock, store: link.store } };
    const common = {
      clock,
      logger: false,
      random: () => dice.next(),
      timeout: TIMEOUT_MS,
      coolDown: { initial: 200, max: 3000 },
    } as const;
    const group = new RefreshGroup({
      ...common,
      schedule: 1000,
      concurrency: 3,
    });
    const loadOne = (context: Parameters<typeof load>[1]): Payload => load(world, context) as Payload;
    const loadOf = (key: number, context: Parameters<typeof load>[1]): Payload =>
      loadKey(world, key, context) as Payload;
    this.#world = world;
    this.clock = clock;
    this.link = link;
    this.group = group;
    this.values = [
      group.value({ name: 'rates', load: loadOne, ...shared, required: true }),
      group.value({
        name: 'flags',
        load: loadOne,
        schedule: withJitter(fixedRate(500), 100),
        retry: { retries: 2, minTimeout: 20 },
      }),
      group.value({ name: 'prices', load: loadOne, maxStaleness: 3000, whenTooStale: 'throw' }),
      group.value({ name: 'calendar', load: loadOne, schedule: cron('*/5 * * * * *'), lock: link.lock }),
      group.value({ name: 'constants', load: () => payload(world), schedule: 2000 }),
    ];
    this.caches = [
      group.cache({ name: 'cities', load: loadOf, max: 80, absentFor: 3000, schedule: 5000 }),
      group.cache<number, Payload>({
        name: 'streets',
        loadMany: async (keys, { signal, previous }) => {
          setMaxListeners(0, signal); // each key may hang on its own
          await world.after(10);
          const one = (key: number): Payload => loadOf(key, { signal, previous: previous.get(key) });
          return new Map(await Promise.all(keys.map(async (key) => [key, await one(key)] as const)));
        },
        batchSize: 20,
        max: 60,
        schedule: 5000,
      }),
      group.cache({
        name: 'houses',
        load: loadOf,
        max: 80,
        maxSize: 400,
        sizeOf: ({ id }) => 1 + (id % 20),
        keyOf: (key) => `house ${key}`,
        schedule: 3000,
      }),
      // The backends keep each name for a week: few names, and a cache that is too small for them.
      group.cache({ name: 'districts', load: loadOf, max: 30, ...shared, schedule: 4000 }),
    ];
    this.executors = [
      group.executor((context) => loadOne({ ...context, previous: undefined }), { name: 'heartbeat' }),
      group.executor(async (context) => loadOne({ ...context, previous: undefined }), {
        name: 'clean-up',
        lock: link.lock,
        schedule: 3000,
      }),
    ];
    this.alone = new RefreshingValue<Payload>({
      ...common,
      name: 'alone',
      load: loadOne,
      schedule: 700,
      ...shared,
    });
    this.task = lockedTask(async ({ signal }) => loadOne({ signal, previous: undefined }), {
      name: 'nightly',
      lock: link.lock,
      lockAtMostFor: 3000,
      lockAtLeastFor: 1000,
      clock,
    });
    for (const member of this.members) {
      census.add('members', member);
      member.on('*', () => {
        world.tally.events += 1;
      });
    }
  }

  get members(): readonly (Value | Cache | PeriodicExecutor)[] {
    return [...this.values, ...this.caches, ...this.executors, this.alone];
  }

  /** Closes the service, in one of several ways. */
  async close(): Promise<void> {
    const { dice, tally } = this.#world;
    const timeout = dice.pick([0, 500, TIMEOUT_MS, 10_000]);
    tally.closes += 1;
    await Promise.all([this.group.close({ timeout }), this.alone.close({ timeout })]);
  }
}
