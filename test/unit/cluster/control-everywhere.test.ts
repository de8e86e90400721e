import { describe, expect, it } from 'vitest';
import {
  cron,
  dailyAt,
  isClosedError,
  isLockUnavailableError,
  isOptionError,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
  type ScheduleLike,
} from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { keyedInstance } from '../../support/keyed-cluster.ts';
import { sealed } from '../../support/sealed-snapshot.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

const everywhere = { everywhere: true } as const;
const WITHIN = 1000;
const HOUR = 3_600_000;
const own = { schedule: HOUR, propagateWithin: WITHIN } as const;

/** A member of one instance that is used again and again. */
interface Used {
  readonly member: Pick<RefreshingValue<unknown>, 'pause' | 'resume' | 'reschedule' | 'close'>;
  use(): unknown;
  readonly isPaused: () => boolean;
  /** How long after now it is executed next. */
  readonly nextIn: () => number;
}

const kinds = ['value', 'cache', 'executor'] as const;

/** Another instance of a cluster, with a member of that kind. */
async function used(cluster: ManualCluster, kind: (typeof kinds)[number]): Promise<Used> {
  const { clock } = cluster;
  const { lock, store } = cluster.link();
  const common = { name: 'm', clock, backend: { lock, store }, logger: false, ...own } as const;
  const load = async (): Promise<number> => 1;
  const nextIn = (inspect: () => { readonly nextExecuteTime?: number | undefined } | undefined) => () =>
    (inspect()?.nextExecuteTime ?? Infinity) - clock.now();
  if (kind === 'value') {
    const member = new RefreshingValue({ load, ...common });
    return usedOf(
      member,
      () => member.get(),
      nextIn(() => member.inspect()),
    );
  }
  if (kind === 'cache') {
    const member = new RefreshingCache<string, number>({ load, jitter: false, ...common });
    return usedOf(
      member,
      () => member.get('k'),
      nextIn(() => member.inspect('k')),
    );
  }
  const member = new PeriodicExecutor(load, common);
  return usedOf(
    member,
    () => member.requestStart(),
    nextIn(() => member.inspect()),
  );
}

async function usedOf(
  member: RefreshingValue<number> | RefreshingCache<string, number> | PeriodicExecutor,
  use: () => Promise<unknown>,
  nextIn: () => number,
): Promise<Used> {
  let isPaused = false;
  member.on('paused', () => {
    isPaused = true;
  });
  member.on('resumed', () => {
    isPaused = false;
  });
  await use();
  return { member, use, isPaused: () => isPaused, nextIn };
}

/** Uses all of them each 10 ms. */
async function useFor(cluster: ManualCluster, all: readonly Used[], ms: number = WITHIN + 20): Promise<void> {
  for (let at = 0; at < ms; at += 10) {
    for (const { use } of all) use();
    await cluster.clock.advance(10);
  }
}

describe.each(kinds)('everywhere, a %s', (kind) => {
  it('is paused and resumed within the time, without a timer in between', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [await used(cluster, kind), await used(cluster, kind)];
    await a.member.pause(everywhere);
    expect([a.isPaused(), b.isPaused()]).toEqual([true, false]);
    await useFor(cluster, [a, b]);
    expect([a.isPaused(), b.isPaused()]).toEqual([true, true]);
    await b.member.resume(everywhere);
    expect([a.isPaused(), b.isPaused()]).toEqual([true, false]);
    await useFor(cluster, [a, b]);
    expect([a.isPaused(), b.isPaused()]).toEqual([false, false]);
    await cluster.clock.advance(WITHIN);
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('is paused again where an instance was resumed by itself', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [await used(cluster, kind), await used(cluster, kind)];
    await a.member.pause(everywhere);
    await useFor(cluster, [a, b]);
    b.member.resume();
    await useFor(cluster, [a, b]);
    expect(b.isPaused()).toBe(false);
    await a.member.pause(everywhere);
    await useFor(cluster, [a, b]);
    expect(b.isPaused()).toBe(true);
  });

  it('is paused also on an instance that starts later', async () => {
    const cluster = new ManualCluster();
    const a = await used(cluster, kind);
    await a.member.pause(everywhere);
    await a.member.reschedule('7m', everywhere);
    await cluster.clock.advance(60_000);
    const c = await used(cluster, kind);
    await useFor(cluster, [c]);
    expect([c.isPaused(), Math.round(c.nextIn() / 60_000)]).toEqual([true, 6]);
  });

  it.each<[string, ScheduleLike, (now: number) => number]>([
    ['a duration', { minutes: 7 }, () => 7 * 60_000],
    ['never', Infinity, () => Infinity],
    ['a cron expression', cron('30 * * * *', { zone: 'UTC' }), (now) => 30 * 60_000 - (now % HOUR)],
    ['a time of the day', dailyAt('12:20', { zone: 'UTC' }), (now) => 20 * 60_000 - (now % HOUR)],
  ])('is rescheduled within the time by %s', async (_, schedule, expected) => {
    const cluster = new ManualCluster();
    const [a, b] = [await used(cluster, kind), await used(cluster, kind)];
    await a.member.reschedule(schedule, everywhere);
    await useFor(cluster, [a, b]);
    const due = expected(cluster.clock.now());
    for (const { nextIn } of [a, b]) {
      const isNear = nextIn() > due - 5000 && nextIn() <= due + 1;
      expect(isNear || nextIn() === due).toBe(true);
    }
  });
});

describe('what is set everywhere', () => {
  it('costs one command of a check for all members, and none where nothing was set', async () => {
    const cluster = new ManualCluster();
    const { lock, store, commands } = cluster.link();
    const group = new RefreshGroup({ clock: cluster.clock, backend: { lock, store }, logger: false, ...own });
    const values = ['v1', 'v2', 'v3'].map((name) => group.value({ name, load: () => name }));
    for (const value of values) await value.get();
    await cluster.clock.advance(2 * WITHIN);
    commands.length = 0;
    for (const value of values) await value.get();
    await cluster.clock.advance(WITHIN);
    expect(commands.map(({ step, args }) => [step, ...args])).toEqual([
      ['check', ['tickless-control', 'v1', 'v2', 'v3']],
    ]);
  });

  it('by several at the same time is what all of them have set, in few rounds', async () => {
    const cluster = new ManualCluster();
    const names = ['v1', 'v2', 'v3', 'v4'];
    const instance = () => {
      const link = cluster.link();
      const { lock, store } = link;
      const group = new RefreshGroup({
        clock: cluster.clock,
        backend: { lock, store },
        logger: false,
        ...own,
      });
      const values = names.map((name) => group.value({ name, load: () => name }));
      return { group, values, link };
    };
    const [a, b, c] = [instance(), instance(), instance()];
    for (const { values } of [a, b, c]) for (const value of values) await value.get();
    a.link.take();
    await a.group.pause(everywhere);
    expect(a.link.take().filter((step) => step === 'acquire').length).toBeLessThanOrEqual(2);
    const both = [
      a.values[0]!.resume(everywhere),
      b.values[1]!.resume(everywhere),
      b.group.reschedule('9m', everywhere),
    ];
    for (let at = 0; at < 3 * WITHIN; at += 10) {
      for (const { values } of [a, b, c]) for (const value of values) value.current;
      await cluster.clock.advance(10);
    }
    await Promise.all(both);
    for (const { group } of [a, b, c])
      expect(group.inspect().members.map(({ paused }) => paused)).toEqual([false, false, true, true]);
  });

  it('concerns members of the same name in one process, which share the store object', async () => {
    const cluster = new ManualCluster();
    const { lock, store } = cluster.link();
    const [a, b] = [cluster.instance({ ...own, lock, store }), cluster.instance({ ...own, lock, store })];
    await a.value.pause(everywhere);
    expect(b.value.inspect().paused).toBe(true);
    const c = cluster.instance({ ...own, lock, store });
    await cluster.clock.flush();
    expect(c.value.inspect().paused).toBe(true);
  });

  it('is written again before the retention of the store is over, once', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [await used(cluster, 'value'), await used(cluster, 'value')];
    await a.member.pause(everywhere);
    const versionOf = async () => (await cluster.store.read('tickless-control'))?.version;
    const first = await versionOf();
    await useFor(cluster, [a, b]);
    expect(await versionOf()).toBe(first);
    await cluster.clock.advance(2 * HOUR);
    await useFor(cluster, [a, b], 3 * WITHIN);
    const second = await versionOf();
    expect(second).toBeGreaterThan(first as number);
    await useFor(cluster, [a, b], 3 * WITHIN);
    expect([await versionOf(), b.isPaused()]).toEqual([second, true]);
  });

  it('is not known to others while the lock is down, stays here, and can be set again', async () => {
    const cluster = new ManualCluster();
    const [a] = await cluster.warm(1, own);
    const b = await used(cluster, 'value');
    a!.link.break('refused', 'acquire');
    expect(isLockUnavailableError(await rejectionOf(a!.value.pause(everywhere)))).toBe(true);
    expect(a!.value.inspect().paused).toBe(true);
    a!.link.mend();
    await cluster.clock.advance(10_000);
    await a!.value.pause(everywhere);
    const { lock, store } = cluster.link();
    const other = cluster.instance({ ...own, lock, store });
    for (let at = 0; at < 2 * WITHIN; at += 10) {
      void other.value.get().catch(() => {});
      await cluster.clock.advance(10);
    }
    expect([other.value.inspect().paused, b.isPaused()]).toEqual([true, false]); // b has another name
  });

  it.each([
    [
      '{"v":{"schedule":{"is":{"of":"moon","given":[]},"at":7}}}',
      /v: the schedule that was set everywhere is not in force/,
    ],
    [
      '{"v":{"schedule":{"is":{"of":"cron","given":["x"]},"at":7}}}',
      /v: the schedule that was set everywhere/,
    ],
    [
      '{"v":{"schedule":{"is":{"of":"every","given":[-1]},"at":7}}}',
      /v: the schedule that was set everywhere/,
    ],
    ['{"v":{"schedule":{"is":["cron"],"at":7}}}', /not a record of what was set everywhere/],
    ['{"v":{"isPaused":{"is":"yes","at":7}}}', /not a record of what was set everywhere/],
    ['{"v":{"isPaused":{"is":true,"at":"now"}}}', /not a record of what was set everywhere/],
    ['{"v":{"isPaused":null}}', /rejected/],
    ['null', /rejected/],
    ['{"__proto__":{"isPaused":{"is":true,"at":7}},"w":{"isPaused":{"is":true,"at":7}}}', undefined],
  ])('and is %s is no harm, and is logged', async (text, line) => {
    const cluster = new ManualCluster();
    const { value, logger } = cluster.instance(own);
    value.set('x');
    await cluster.store.write('tickless-control', sealed({ format: 'tickless-control/1' }, text));
    for (let at = 0; at < 3 * WITHIN; at += 10) {
      value.current;
      await cluster.clock.advance(10);
    }
    expect([value.inspect().paused, value.inspect().nextExecuteTime]).toEqual([false, expect.any(Number)]);
    expect(logger.lines).toEqual(line === undefined ? [] : [expect.stringMatching(line)]);
  });

  it('needs a lock, a store and propagateWithin, and says so; nothing is changed then', async () => {
    const cluster = new ManualCluster();
    const { lock, store } = cluster.link();
    const group = new RefreshGroup({ clock: cluster.clock, logger: false });
    const can = group.value({ name: 'can', load: () => 1, backend: { lock, store }, propagateWithin: '1s' });
    const load = () => 1;
    for (const [member, needs] of [
      [new RefreshingValue({ name: 'v', load }), /everywhere needs a lock and a store \(backend, or both\)/],
      [new RefreshingValue({ name: 'v', load, backend: { store } }), /everywhere needs a lock and a store/],
      [new PeriodicExecutor(load, { name: 't', lock }), /everywhere needs a lock and a store/],
      [
        new RefreshingValue({ name: 'v', load, backend: { lock, store } }),
        /needs propagateWithin \(propagateWithin: '5s'\)/,
      ],
    ] as const) {
      for (const call of ['pause', 'resume'] as const) {
        const error = thrownBy(() => member[call](everywhere)) as Error;
        expect([isOptionError(error), error.message]).toEqual([true, expect.stringMatching(needs)]);
      }
      expect(member.inspect().paused).toBe(false);
    }
    const { cache } = keyedInstance(cluster);
    expect((thrownBy(() => cache.reschedule('7m', everywhere)) as Error).message).toMatch(/propagateWithin/);
    group.value({ name: "can't", load });
    expect(isOptionError(thrownBy(() => group.pause(everywhere)))).toBe(true);
    expect([group.inspect().paused, can.inspect().paused]).toEqual([false, false]);
    const error = thrownBy(() => can.reschedule(({ endedAt }) => endedAt + 1, everywhere)) as Error;
    expect(error.message).toMatch(/schedule must be a duration, or of cron\(\) or dailyAt\(\)/);
    expect(isOptionError(thrownBy(() => can.pause({ everywere: true } as never)))).toBe(true);
    expect(isOptionError(thrownBy(() => group.resume({ everywere: true } as never)))).toBe(true);
    expect(isOptionError(thrownBy(() => group.reschedule('600')))).toBe(true);
  });

  it('rejects after close, and when close ends it', async () => {
    const cluster = new ManualCluster();
    const a = await used(cluster, 'value');
    await a.member.close();
    expect(isClosedError(await rejectionOf(a.member.pause(everywhere)))).toBe(true);
    const b = cluster.instance(own);
    const held = await cluster.lock.acquire({
      name: 'tickless-control',
      owner: 'other',
      requestId: 'r',
      leaseFor: 60_000,
      host: 'h',
    });
    expect(held.kind).toBe('acquired');
    const published = b.value.pause(everywhere);
    await cluster.clock.advance(500);
    const closed = b.value.close({ timeout: 0 });
    await cluster.clock.advance(1000);
    expect(isClosedError(await rejectionOf(published))).toBe(true);
    await closed;
    await cluster.clock.advance(1000);
    expect(cluster.clock.timerCount).toBe(0);
  });
});
