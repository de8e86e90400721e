import { describe, expect, it } from 'vitest';
import type { LockProvider } from '../../../src/cluster/lock-contract.ts';
import { PeriodicExecutor, RefreshingCache, RefreshingValue, type ValueOptions } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { recordLines } from '../../support/events.ts';
import { ofOption } from '../../support/option-errors.ts';
import { methodsOf } from '../../support/parts.ts';
import { thrownBy } from '../../support/settle.ts';
import { unspread } from '../../support/unspread.ts';

const COUNT = 200;
const INDEXES = Array.from({ length: COUNT }, (_, index) => index);

interface Common extends Pick<ValueOptions<string>, 'backend' | 'lock'> {
  readonly clock: ManualCluster['clock'];
  readonly logger: ReturnType<typeof recordLines>;
  readonly schedule: number;
}

/** The reads of 200 members on one object: 80 values, 40 tasks where there is a lock alone, and keys. */
function membersOf(
  common: Common,
  load: (name: string) => Promise<string>,
): readonly (() => Promise<unknown>)[] {
  const values = INDEXES.slice(0, 80).map((index) => {
    const value = new RefreshingValue({ ...common, name: `v${index}`, load: () => load(`v${index}`) });
    return () => value.get();
  });
  const loadKey = (key: number): Promise<string> => load(`${key}`);
  const cache = new RefreshingCache({ ...common, name: 'c', random: unspread, load: loadKey });
  const tasks = INDEXES.slice(0, common.lock === undefined ? 0 : 40).map((index) => {
    const name = `t${index}`;
    const task = new PeriodicExecutor(() => load(name), { ...common, name, whenBackendDown: 'load' });
    return () => task.requestStart();
  });
  return [...values, ...tasks, ...INDEXES.slice(tasks.length + 80).map((key) => () => cache.get(key))];
}

/** 200 members with one lock, or one backend. */
function crowd(which: 'lock' | 'backend') {
  const cluster = new ManualCluster();
  const { clock } = cluster;
  const link = cluster.link();
  const logger = recordLines();
  const loads: string[] = [];
  const common = { clock, logger, schedule: 5000, [which]: link[which] };
  const reads = membersOf(common, async (name) => {
    loads.push(name);
    return name;
  });
  /** Reads all members, and lets everything that follows happen within a second. */
  async function read(): Promise<void> {
    loads.length = 0;
    link.take();
    const all = Promise.all(reads.map((start) => start()));
    await clock.advance(1000);
    await all;
  }
  /** All are due again, the pauses of the backend are over. */
  async function due(): Promise<void> {
    await clock.advance(10_000);
  }
  function asked(step: string): number {
    return link.commands.filter((command) => command.step === step).length;
  }
  return { clock, link, logger, loads, read, due, asked };
}

describe('200 members', () => {
  it.each([
    ['lock', 'acquire'],
    ['lock', 'release'],
    ['backend', 'read'],
    ['backend', 'write'],
  ] as const)('on one %s have at most 32 steps %s under way at a time', async (which, slow) => {
    const { clock, link, loads, read } = crowd(which);
    let underWay = 0;
    let most = 0;
    link.fault = (step) => {
      if (step !== slow) return undefined;
      underWay += 1;
      most = Math.max(most, underWay);
      return new Promise<void>((resolve) => {
        clock.setTimeout(() => {
          underWay -= 1;
          resolve();
        }, 10);
      });
    };
    await read();
    expect([most, loads.length]).toEqual([32, COUNT]);
  });
});

describe('200 members on one lock', () => {
  it('ask a lock that refuses twice in all, and load without it; one probe ends the outage', async () => {
    const { link, logger, loads, read, due, asked } = crowd('lock');
    link.break('refused', 'acquire');
    await read();
    expect([asked('acquire'), loads.length]).toEqual([2, COUNT]);
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toContain('lock unavailable, loading without it');
    await due();
    await read();
    expect([asked('acquire'), logger.lines.length]).toEqual([1, 1]);
    await due();
    link.mend();
    await read();
    await due();
    await read();
    expect([asked('acquire'), loads.length]).toEqual([COUNT, COUNT]);
    expect(logger.lines).toHaveLength(2);
    expect(logger.lines[1]).toContain('available again after');
  });
});

describe('200 values on one lock that stops to answer while it is trusted', () => {
  it('occupy it once with 32 steps, and one again; the others load without it when these have failed', async () => {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    const link = cluster.link();
    let loads = 0;
    const values = INDEXES.map(
      (index) =>
        new RefreshingValue({
          name: `v${index}`,
          load: async () => ++loads,
          clock,
          logger: false,
          lock: link.lock,
          timeout: 10_000,
        }),
    );
    const first = Promise.all(values.map((value) => value.get()));
    await clock.advance(100);
    await first;
    link.take();
    link.break('no-answer', 'acquire');
    const results = Promise.allSettled(values.map((value) => value.refresh({ here: true })));
    await clock.advance(10_000);
    expect((await results).filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(loads).toBe(2 * COUNT);
    expect(link.commands).toHaveLength(32 + 1); // one asks again: its answer may be lost
  });
});

describe('200 members on one lock that never answers', () => {
  it('ask it once in all, and load without it', async () => {
    const { clock, link, logger, loads, read, asked } = crowd('lock');
    link.break('no-answer', 'acquire');
    const reads = read();
    await clock.advance(60_000);
    await reads;
    expect([asked('acquire'), loads.length]).toEqual([1, COUNT]);
    expect(logger.lines).toHaveLength(1);
  });
});

describe('200 members on one store', () => {
  it('ask a store that refuses reads once, and load without it; one probe ends the outage', async () => {
    const { link, logger, loads, read, due, asked } = crowd('backend');
    link.break('refused', 'read', 'write', 'confirm', 'check');
    await read();
    expect(asked('read')).toBe(1);
    expect(asked('write')).toBeLessThanOrEqual(2);
    expect(loads).toHaveLength(COUNT);
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toContain('store unavailable');
    await due();
    await read();
    expect(logger.lines).toHaveLength(1);
    link.mend();
    await due();
    await read();
    await due();
    await read();
    expect(logger.lines).toHaveLength(2);
    expect(logger.lines[1]).toContain('available again after');
    expect(asked('write') + asked('confirm')).toBe(loads.length); // some find the same text in the store
  });

  it('make a bounded number of writes to a store that refuses them', async () => {
    const { link, logger, read, due, asked } = crowd('backend');
    await read();
    link.take();
    link.break('refused', 'write', 'confirm');
    await due();
    await read();
    expect(asked('write') + asked('confirm')).toBeLessThanOrEqual(6);
    expect(logger.lines.length).toBeLessThanOrEqual(3);
  });
});

describe('a record that somebody has damaged', () => {
  function damaged(isDamaged: (name: string) => boolean) {
    const { clock, lock } = new ManualCluster();
    const logger = recordLines();
    const asked: string[] = [];
    const partly = asLock({
      ...methodsOf(lock),
      async acquire(request) {
        asked.push(request.name);
        const answer = await lock.acquire(request);
        return isDamaged(request.name) ? ({ kind: 'done', token: -1 } as never) : answer;
      },
    });
    const refreshing = (name: string) =>
      new RefreshingValue({ name, load: async () => name, clock, logger, lock: partly });
    return { clock, logger, asked, refreshing };
  }

  it('is the problem of its name: the others are coordinated', async () => {
    const { logger, asked, refreshing } = damaged((name) => name === 'damaged');
    expect(await refreshing('damaged').get()).toBe('damaged');
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toContain('lock unavailable, loading without it: acquire() returned');
    asked.length = 0;
    const well = refreshing('well');
    expect(await well.get()).toBe('well');
    expect([asked, logger.lines.length]).toEqual([['well'], 1]);
    expect(well.inspect().lock?.lockError).toBeUndefined();
  });

  it('in each name is an outage: after three of them the lock rests, and people are told no more', async () => {
    const { logger, asked, refreshing } = damaged(() => true);
    for (const name of ['a', 'b', 'c', 'd', 'e']) expect(await refreshing(name).get()).toBe(name);
    expect(new Set(asked)).toEqual(new Set(['a', 'b', 'c']));
    expect(logger.lines).toHaveLength(3);
  });
});

describe('what one member writes', () => {
  /** Two values on one store that refuses large payloads. */
  function withLargeValue() {
    const cluster = new ManualCluster();
    const { clock } = cluster;
    const link = cluster.link();
    link.fault = (step, { args }) =>
      step === 'write' && (args[0] as string | undefined)?.includes('large') ? 'refused' : undefined;
    const lines = recordLines();
    let loads = 0;
    const make = (name: string): RefreshingValue<string> =>
      new RefreshingValue({
        name,
        load: async () => `${name} ${++loads}`,
        schedule: 1000,
        clock,
        logger: lines,
        backend: link.backend,
      });
    return { cluster, clock, large: make('large'), small: make('small'), lines: lines.lines };
  }

  it('does not stop the others: a value that is too large for the store is its own problem', async () => {
    const { cluster, clock, large, small, lines } = withLargeValue();
    const versions = new Set<number | undefined>();
    for (let round = 0; round < 10; round++) {
      await Promise.all([large.get(), small.get()]);
      await clock.advance(3000);
      versions.add((await cluster.store.read('small'))?.version);
    }
    expect(await cluster.store.read('large')).toBeUndefined();
    expect(versions.size).toBeGreaterThanOrEqual(9);
    expect(lines.length).toBeLessThan(5);
  });

  it('bears its age at the write, also where the write waited for others', async () => {
    const { clock, link, read } = crowd('backend');
    link.fault = (step) =>
      step === 'write' ? new Promise<void>((resolve) => void clock.setTimeout(resolve, 100)) : undefined;
    await read();
    const writes = link.commands.filter(({ step }) => step === 'write');
    const ages = writes.map(({ args }) => JSON.parse((args[0] as string).split('\n')[0] ?? '').age as number);
    expect([ages.length, ages[0], ages.at(-1)]).toEqual([COUNT, 0, 600]);
  });
});

describe('a plain object', () => {
  const { lock, store } = new ManualCluster();
  const plainLock: LockProvider = {
    leaseFor: lock.leaseFor,
    longestName: 100,
    acquire: async (...args) => ['acquire', args] as never,
    extend: async (...args) => ['extend', args] as never,
    release: async (...args) => ['release', args] as never,
    inspect: async (...args) => ['inspect', args] as never,
    list: async (...args) => ['list', args] as never,
    forceRelease: async (...args) => ['forceRelease', args] as never,
  };

  it.each([
    ['lock', 'asLock(object)', { lock: plainLock }],
    ['lock', 'asLock(object)', { lock: { ...asLock(lock) } }], // a copy may have methods of its own
    ['backend', 'redisBackend({ client })', { backend: { store: { ...store } } }],
  ])('as a %s is refused with an error that names %s', (option, remedy, options) => {
    const error = thrownBy(() => new RefreshingValue({ name: 'v', load: () => 1, ...options }));
    expect(error).toMatchObject(ofOption(option));
    expect((error as Error).message).toContain(remedy);
  });

  it('is passed through by asLock: all methods with all arguments, and the rest', async () => {
    const wrapped = asLock(plainLock);
    for (const [name, member] of Object.entries(plainLock)) {
      const actual = (wrapped as unknown as Record<string, unknown>)[name];
      if (typeof member !== 'function') expect(actual).toBe(member);
      else expect(await (actual as typeof member)(1, 2, 3)).toEqual([name, [1, 2, 3]]);
    }
    expect(Object.isFrozen(wrapped)).toBe(true);
  });

  it('without the three methods is refused by asLock', () => {
    const two = { acquire() {}, extend() {} };
    expect(thrownBy(() => asLock(two as never))).toMatchObject({ code: 'OPTION' });
  });
});
