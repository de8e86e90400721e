import { describe, expect, it } from 'vitest';
import {
  isTicklessError,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
} from '../../../src/index.ts';
import { coldOne, ManualCluster, warmOne } from '../../support/cluster.ts';
import { sealed } from '../../support/sealed-snapshot.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';
import { unspread } from '../../support/unspread.ts';

const WITHIN = 1000;
const HOUR = 3_600_000;
const own = { schedule: HOUR, propagateWithin: WITHIN } as const;

/** A member of one instance that is used again and again. */
interface Used {
  readonly member: Pick<RefreshingValue<unknown>, 'pause' | 'resume' | 'close'>;
  use(): unknown;
  readonly isPaused: () => boolean;
}

const kinds = ['value', 'cache', 'executor'] as const;

/** Another instance of a cluster, with a member of that kind. */
async function used(cluster: ManualCluster, kind: (typeof kinds)[number]): Promise<Used> {
  const { clock } = cluster;
  const { lock, store } = cluster.link();
  const common = { name: 'm', clock, backend: { lock, store }, logger: false, ...own } as const;
  const load = async (): Promise<number> => 1;
  if (kind === 'value') {
    const member = new RefreshingValue({ load, ...common });
    return usedOf(member, () => member.get());
  }
  if (kind === 'cache') {
    const member = new RefreshingCache<string, number>({ load, random: unspread, ...common });
    return usedOf(member, () => member.get('k'));
  }
  const member = new PeriodicExecutor(load, common);
  return usedOf(member, () => member.requestStart());
}

async function usedOf(
  member: RefreshingValue<number> | RefreshingCache<string, number> | PeriodicExecutor,
  use: () => Promise<unknown>,
): Promise<Used> {
  let isPaused = false;
  member.on('paused', () => {
    isPaused = true;
  });
  member.on('resumed', () => {
    isPaused = false;
  });
  await use();
  return { member, use, isPaused: () => isPaused };
}

/** Uses all of them each 10 ms. */
async function useFor(cluster: ManualCluster, all: readonly Used[], ms: number = WITHIN + 20): Promise<void> {
  for (let at = 0; at < ms; at += 10) {
    for (const { use } of all) use();
    await cluster.clock.advance(10);
  }
}

describe.each(kinds)('on all instances, a %s', (kind) => {
  it('is paused and resumed within the time, without a timer in between, also on one that starts later', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [await used(cluster, kind), await used(cluster, kind)];
    const pausedAfter = async (change: Promise<unknown>): Promise<[boolean, boolean]> => {
      await change;
      await useFor(cluster, [a, b]);
      return [a.isPaused(), b.isPaused()];
    };
    await a.member.pause();
    expect([a.isPaused(), b.isPaused()]).toEqual([true, false]);
    expect(await pausedAfter(Promise.resolve())).toEqual([true, true]);
    expect(await pausedAfter(b.member.resume({ here: true }) as Promise<void>)).toEqual([true, false]);
    expect(await pausedAfter(a.member.pause())).toEqual([true, true]);
    await cluster.clock.advance(60_000);
    const later = await used(cluster, kind);
    await useFor(cluster, [later]);
    expect(later.isPaused()).toBe(true);
    await b.member.resume();
    expect([a.isPaused(), b.isPaused()]).toEqual([true, false]);
    expect(await pausedAfter(Promise.resolve())).toEqual([false, false]);
    await cluster.clock.advance(WITHIN);
    expect(cluster.clock.timerCount).toBe(0);
  });
});

describe('a pause on all instances', () => {
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
    await Promise.all(a.values.map((value) => value.pause()));
    expect(a.link.take()).toEqual(['write']);
    const both = [a.values[0]!.resume(), b.values[1]!.resume()];
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
    await a.value.pause();
    expect(b.value.inspect().paused).toBe(true);
    const c = cluster.instance({ ...own, lock, store });
    await cluster.clock.flush();
    expect(c.value.inspect().paused).toBe(true);
  });

  it('is written again before the retention of the store is over, once', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [await used(cluster, 'value'), await used(cluster, 'value')];
    await a.member.pause();
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

  it('is not known to others while the store is not written to, stays here, and can be set again', async () => {
    const { cluster, a } = await warmOne(own);
    const b = await used(cluster, 'value');
    a!.link.break('refused', 'write');
    expect(isTicklessError(await rejectionOf(a!.value.pause()), 'BACKEND_DOWN')).toBe(true);
    expect(a!.value.inspect().paused).toBe(true);
    a!.link.mend();
    await cluster.clock.advance(10_000);
    await a!.value.pause();
    const { lock, store } = cluster.link();
    const other = cluster.instance({ ...own, lock, store });
    for (let at = 0; at < 2 * WITHIN; at += 10) {
      void other.value.get().catch(() => {});
      await cluster.clock.advance(10);
    }
    expect([other.value.inspect().paused, b.isPaused()]).toEqual([true, false]); // b has another name
  });

  it.each([
    ['{"v":{"isPaused":{"is":"yes","at":7}}}', /not a record of paused members/],
    ['{"v":{"isPaused":{"is":true,"at":"now"}}}', /not a record of paused members/],
    ['{"v":{"isPaused":null}}', /rejected/],
    ['null', /rejected/],
    ['{"__proto__":{"isPaused":{"is":true,"at":7}},"w":{"isPaused":{"is":true,"at":7}}}', undefined],
  ])('and is %s is no harm, and is logged', async (text, line) => {
    const { cluster, value, logger } = coldOne(own);
    value.set('x');
    await cluster.store.write('tickless-control', sealed({ format: 'tickless-control/1' }, text));
    for (let at = 0; at < 3 * WITHIN; at += 10) {
      value.current;
      await cluster.clock.advance(10);
    }
    expect([value.inspect().paused, value.inspect().nextExecuteTime]).toEqual([false, expect.any(Number)]);
    expect(logger.lines).toEqual(line === undefined ? [] : [expect.stringMatching(line)]);
  });

  it('is here where there is no backend, or for one that has it narrowed; an unknown option changes nothing', async () => {
    const cluster = new ManualCluster();
    const { lock, store } = cluster.link();
    const group = new RefreshGroup({ clock: cluster.clock, logger: false });
    const shared = group.value({ name: 'shared', load: () => 1, backend: { lock, store } });
    const alone = group.value({ name: 'alone', load: () => 1 });
    const error = thrownBy(() => shared.pause({ heer: true } as never)) as Error;
    expect([isTicklessError(error, 'OPTION'), error.message]).toEqual([
      true,
      expect.stringContaining('did you mean here?'),
    ]);
    expect(thrownBy(() => shared.pause({ here: 'yes' } as never))).toMatchObject({ code: 'OPTION' });
    expect([shared.inspect().paused, alone.inspect().paused]).toEqual([false, false]);
    await alone.pause();
    await shared.pause({ here: true });
    expect([shared.inspect().paused, alone.inspect().paused]).toEqual([true, true]);
    expect(await cluster.store.read('tickless-control')).toBe(undefined);
    await Promise.all([shared.resume(), alone.resume()]);
    expect([shared.inspect().paused, alone.inspect().paused]).toEqual([false, false]);
    expect(await cluster.store.read('tickless-control')).toBeDefined();
  });

  it('rejects after close, and where it has not been sent by then', async () => {
    const cluster = new ManualCluster();
    const a = await used(cluster, 'value');
    await a.member.close();
    expect(isTicklessError(await rejectionOf(a.member.pause()), 'CLOSED')).toBe(true);
    const b = cluster.instance(own);
    const answered = b.link.hold('write');
    const sent = b.value.pause();
    await cluster.clock.advance(500);
    const waiting = rejectionOf(b.value.resume());
    const closed = b.value.close({ timeout: 0 });
    await cluster.clock.advance(1000);
    await closed;
    answered.resolve();
    await sent;
    expect(isTicklessError(await waiting, 'CLOSED')).toBe(true);
    expect(b.link.take().filter((step) => step === 'write')).toHaveLength(1);
    await cluster.clock.advance(1000);
    expect(cluster.clock.timerCount).toBe(0);
  });
});
