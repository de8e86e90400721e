import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { type GroupOptions, isTicklessError, RefreshGroup, RefreshingValue } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import type { CloseOptions } from '../../../src/value/lifecycle.ts';
import type { Task } from '../../../src/value/periodic-executor.ts';
import { recordEvents, wordsOf } from '../../support/events.ts';
import { HoldingClock } from '../../support/holding-clock.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { ofOption } from '../../support/option-errors.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';
import { unspread } from '../../support/unspread.ts';

const DAY = 86_400_000;

function make(options: GroupOptions = {}) {
  const clock = new FakeClock();
  const quiet = { clock, retry: false, logger: false } as const;
  const group = new RefreshGroup({ ...quiet, schedule: 1000, random: () => 0, ...options });
  return { clock, group, manual: new ManualLoad<string>() };
}

/** A source that can be taken down, and counts its calls. */
function source() {
  const made = {
    isDown: false,
    count: 0,
    load: async (): Promise<string> => {
      made.count += 1;
      if (made.isDown) throw new Error('down');
      return 'x';
    },
  };
  return made;
}

const hang = (): Promise<string> => new Promise(() => {});

describe('ready', () => {
  it('keeps no process alive once its wait is over: the loads go on without it', async () => {
    const clock = new HoldingClock();
    const group = new RefreshGroup({ clock, logger: false, retry: false });
    const manual = new ManualLoad<string>();
    const value = group.value({ name: 'v', load: manual.load, required: true });
    group.cache({ name: 'c', load: () => hang(), required: true });
    const report = group.ready({ timeout: 10 });
    expect(clock.held).toBeGreaterThan(0);
    await clock.advance(10);
    expect((await report).ok).toBe(false);
    await clock.flush();
    expect(clock.held).toBe(0);
    manual.call(0).resolve('late');
    await clock.flush();
    expect(value.peek()).toBe('late');
  });

  it.each([
    ['a guard refuses the first values', { accept: (value: string) => value === 'call 3' }],
    ['the lock is down at first', { whenBackendDown: 'skip' }],
  ] as const)('tries again where %s', async (_, options) => {
    const { clock, group } = make({ coolDown: 100 });
    const up = lockOf(memoryBackend());
    const lock = asLock({
      acquire: async (request) => {
        if (clock.monotonic() < 150) throw new Error('down');
        return up.acquire(request);
      },
      extend: (...lease) => up.extend(...lease),
      release: (...end) => up.release(...end),
    });
    let calls = 0;
    const load = (): string => `call ${++calls}`;
    const own = 'accept' in options ? options : { ...options, lock };
    group.value({ name: 'v', load, required: true, ...own });
    const report = group.ready({ timeout: 5000 });
    await clock.advance(4000);
    expect(await report).toEqual({ ok: true, problems: [] });
  });

  it('loads each required member once, no other, and reports ok', async () => {
    const { clock, group } = make({ piggyback: false });
    const [a, b, other] = [source(), source(), source()];
    group.value({ name: 'a', load: a.load, required: true });
    group.executor(b.load, { name: 'b', required: true });
    group.value({ name: 'other', load: other.load });
    const reports = [group.ready(), group.ready({ timeout: Infinity })];
    for (const report of reports) expect(await report).toEqual({ ok: true, problems: [] });
    expect(await settled(group.ready())).toEqual({ value: { ok: true, problems: [] } });
    expect([a.count, b.count, other.count, clock.timerCount]).toEqual([1, 1, 0, 0]);
  });

  it('resolves at once when no member is required, or all were loaded before, also where they are due', async () => {
    const { clock, group } = make();
    const cold = group.value({ name: 'cold', load: hang });
    const due = group.value({ name: 'set', load: hang, required: true });
    due.set('by hand');
    for (const age of [0, 5000]) {
      await clock.advance(age);
      expect(await settled(group.ready())).toEqual({ value: { ok: true, problems: [] } });
      expect([cold.inspect().running, due.inspect().running, clock.timerCount]).toEqual([false, false, 0]);
    }
  });

  it('retries a failing member after each cool-down until it succeeds', async () => {
    const { clock, group } = make({ coolDown: 1000 });
    const a = source();
    a.isDown = true;
    group.value({ name: 'a', load: a.load, required: true });
    const report = group.ready();
    for (const [ms, count] of [
      [499, 1],
      [1, 2],
      [499, 2],
      [1, 3],
    ] as const) {
      await clock.advance(ms);
      expect(a.count).toBe(count);
    }
    expect(await settled(report)).toBe('pending');
    a.isDown = false;
    await clock.advance(500);
    expect(await settled(report)).toEqual({ value: { ok: true, problems: [] } });
    expect({ count: a.count, timerCount: clock.timerCount }).toEqual({ count: 4, timerCount: 0 });
  });

  for (const [timeout, ms] of [
    [undefined, 30_000],
    [{ seconds: 2 }, 2000],
  ] as const) {
    it(`after ${ms} ms reports which are missing and why, and their loads continue`, async () => {
      const { clock, group, manual } = make();
      const down = source();
      down.isDown = true;
      group.value({ name: 'fine', load: source().load, required: true });
      const slow = group.value({ name: 'slow', load: manual.load, required: true, timeout: Infinity });
      group.executor(down.load, { name: 'down', required: true });
      group.value({ name: 'not required', load: hang });
      const report = group.ready({ timeout });
      await clock.advance(ms - 1);
      expect(await settled(report)).toBe('pending');
      await clock.advance(1);
      const { ok, problems } = await report;
      expect(ok).toBe(false);
      expect(problems.map(({ error: _, message: __, ...problem }) => problem)).toEqual([
        { name: 'slow', kind: 'not-loaded', isFatal: true },
        { name: 'down', kind: 'not-loaded', isFatal: true },
      ]);
      const [ofSlow, ofDown] = problems;
      expect([ofSlow?.error, isTicklessError(ofDown?.error, 'LOAD_FAILED')]).toEqual([undefined, true]);
      expect(ofDown?.message).toMatch(/required.*load failed: down$/);
      const { count } = down;
      await clock.advance(DAY);
      expect({ count: down.count, calls: manual.calls.length }).toEqual({ count, calls: 1 });
      manual.call(0).resolve('late');
      await clock.flush();
      expect({ peek: slow.peek(), timerCount: clock.timerCount }).toEqual({ peek: 'late', timerCount: 0 });
    });
  }

  it('does not try again what fails after the deadline', async () => {
    const { clock, group, manual } = make();
    group.value({ name: 'a', load: manual.load, required: true, timeout: Infinity });
    const report = group.ready({ timeout: 10 });
    await clock.advance(10);
    expect(await settled(report)).toMatchObject({ value: { ok: false } });
    manual.call(0).reject(new Error('down'));
    await clock.advance(DAY);
    expect({ calls: manual.calls.length, timerCount: clock.timerCount }).toEqual({ calls: 1, timerCount: 0 });
  });

  it('with a timeout of 0 reports at once, with Infinity it waits as long as it takes', async () => {
    const { clock, group, manual } = make();
    const a = group.value({ name: 'a', load: manual.load, required: true, timeout: Infinity });
    const hasty = group.ready({ timeout: 0 });
    await clock.flush();
    expect(await settled(hasty)).toMatchObject({ value: { ok: false, problems: [{ kind: 'not-loaded' }] } });
    const patient = group.ready({ timeout: Infinity });
    await clock.advance(40 * DAY);
    expect([await settled(patient), clock.timerCount]).toEqual(['pending', 0]);
    manual.call(0).resolve('x');
    expect(await settled(patient)).toEqual({ value: { ok: true, problems: [] } });
    expect({ peek: a.peek(), calls: manual.calls.length }).toEqual({ peek: 'x', calls: 1 });
  });

  it('rejects an invalid timeout', () => {
    for (const timeout of [-1, Number.NaN, '30 parsecs'] as never[]) {
      expect(thrownBy(() => make().group.ready({ timeout }))).toMatchObject(ofOption('timeout'));
    }
  });

  it('reports a paused member as paused, and can be called again', async () => {
    const { clock, group } = make();
    const a = group.value({ name: 'a', load: source().load, required: true });
    a.pause();
    const report = group.ready({ timeout: 100 });
    await clock.advance(100);
    const { ok, problems } = await report;
    expect([ok, problems.map(({ kind }) => kind).sort()]).toEqual([false, ['not-loaded', 'paused']]);
    a.resume();
    expect(await group.ready()).toEqual({ ok: true, problems: [] });
  });

  it('does not count a member that was closed by itself, and is not ok once the group is closed', async () => {
    const { clock, group } = make();
    const a = group.value({ name: 'a', load: source().load, required: true });
    await a.close();
    expect(await settled(group.ready())).toEqual({ value: { ok: true, problems: [] } });
    group.value({ name: 'b', load: source().load, required: true });
    await group.close();
    const report = await settled(group.ready());
    expect(report).toMatchObject({ value: { ok: false, problems: [{ name: 'b', kind: 'closed' }, {}] } });
    expect(clock.timerCount).toBe(0);
  });

  it('that waits for a member in its cool-down ends when the group is closed, and leaves no timer', async () => {
    const { clock, group } = make({ coolDown: { minutes: 1 } });
    const down = source();
    down.isDown = true;
    group.value({ name: 'a', load: down.load, required: true });
    const report = group.ready();
    await clock.flush();
    await group.close();
    await clock.flush();
    expect(await settled(report)).toMatchObject({ value: { ok: false } });
    expect(clock.timerCount).toBe(0);
  });
});

describe('health', () => {
  it('is ok without problems, also with members that were never read', async () => {
    const { clock, group } = make();
    group.value({ name: 'a', load: source().load });
    group.cache({ name: 'c', load: source().load });
    const loadedOne = group.value({ name: 'b', load: source().load, required: true });
    await loadedOne.get();
    await clock.advance(5000);
    expect(group.health()).toEqual({ ok: true, problems: [] });
  });

  it('reports the keys that fail, which is never fatal, also beyond their limit', async () => {
    const { clock, group } = make({ maxStaleness: 5000, coolDown: 10, piggyback: false });
    const a = source();
    const cache = group.cache({ name: 'c', load: a.load, random: unspread });
    await cache.getMany(['k1', 'k2']);
    await clock.advance(1000);
    a.isDown = true;
    cache.current('k1');
    await clock.flush();
    expect(group.health()).toMatchObject({ ok: true, problems: [{ name: 'c', key: 'k1', kind: 'failing' }] });
    expect(group.inspect().members).toMatchObject([{ name: 'c', size: 2, failing: 1 }]);
    await clock.advance(4001);
    expect(group.health()).toMatchObject({ ok: true, problems: [{ key: 'k1', isFatal: false }] });
    a.isDown = false;
    await cache.get('k1');
    expect(group.health()).toEqual({ ok: true, problems: [] });
  });

  it('lists members with fatal ones first, else in their order; paused is not fatal', async () => {
    const { clock, group } = make();
    group.cache({ name: 'paused cache', load: hang }).pause();
    const down = source();
    down.isDown = true;
    await group
      .value({ name: 'failing', load: down.load })
      .refresh()
      .catch(() => {});
    group.value({ name: 'missing', load: hang, required: true });
    const old = group.value({ name: 'too old', load: source().load, schedule: 999, maxStaleness: 1000 });
    await old.get();
    await clock.advance(1001);
    old.pause();
    const { ok, problems } = group.health();
    expect([ok, problems.map(({ name, kind, isFatal }) => `${name}: ${kind}${isFatal ? '!' : ''}`)]).toEqual([
      false,
      [
        'missing: not-loaded!',
        'too old: too-stale!',
        'too old: paused',
        'paused cache: paused',
        'failing: failing',
      ],
    ]);
  });

  it('is not ok after close: each member is reported as closed', async () => {
    const { group } = make();
    await group.value({ name: 'a', load: source().load }).get();
    group.executor(source().load, { name: 'e' });
    group.cache({ name: 'c', load: source().load });
    const closing = group.close();
    expect(group.health()).toMatchObject({ ok: false, problems: Array(3).fill({ kind: 'closed' }) });
    await closing;
    expect(group.inspect()).toMatchObject({ closed: true, members: Array(3).fill({ closed: true }) });
  });
});

describe('close', () => {
  it('waits for the loads that run, answers their waiters, and starts no other load', async () => {
    const { clock, group, manual } = make({ piggyback: false });
    const members = [...'abcdefg'].map((name) => group.value({ name, load: manual.load }));
    const cache = group.cache({ name: 'k', load: (_key: string, context) => manual.load(context) });
    const events = members.map(recordEvents);
    const reads = [members[0]?.get(), cache.get('key')];
    const ends: Promise<unknown>[] = [];
    group.requestStart({ waitUntil: (end) => void ends.push(end) });
    await clock.flush();
    expect(manual.live).toBe(6); // two for the readers, four that the group started
    const closing = group.close();
    await clock.advance(9999);
    expect([await settled(closing), await settled(ends[0] as Promise<void>)]).toEqual(['pending', 'pending']);
    for (const call of manual.calls) call.resolve('x');
    expect(await Promise.all(reads)).toEqual(['x', 'x']);
    expect(await settled(closing)).toEqual({ value: { drained: true, aborted: [], leases: [] } });
    expect(await settled(ends[0] as Promise<void>)).toEqual({ value: undefined });
    await clock.flush();
    expect([manual.calls.length, clock.timerCount, group.inspect().running]).toEqual([6, 0, 0]);
    expect(events.map((list) => wordsOf(list).at(-1))).toEqual(Array(7).fill('closed'));
  });

  for (const [options, ms] of [
    [undefined, 10_000],
    [{ timeout: { seconds: 2 } }, 2000],
    [{ timeout: 0 }, 0],
  ] as [CloseOptions | undefined, number][]) {
    it(`aborts running loads after ${ms} ms, and their waiters get CLOSED`, async () => {
      const { clock, group, manual } = make();
      const a = group.value({ name: 'a', load: manual.load, timeout: Infinity });
      const cache = group.cache({ name: 'k', load: (_key: string, context) => manual.load(context) });
      const e = group.executor(manual.load as Task, { name: 'e', timeout: Infinity });
      const errors = [a.get(), cache.get('key'), e.execute()].map(rejectionOf);
      const closing = group.close(options);
      if (ms > 0) await clock.advance(ms - 1);
      if (ms > 0) expect(manual.calls.some(({ context }) => context.signal.aborted)).toBe(false);
      await clock.advance(1);
      const aborted = [{ name: 'a' }, { name: 'k', key: 'key' }, { name: 'e' }];
      expect(await settled(closing)).toEqual({ value: { drained: false, aborted, leases: [] } });
      for (const error of await Promise.all(errors)) expect(isTicklessError(error, 'CLOSED')).toBe(true);
      expect(manual.calls.map(({ context }) => context.signal.aborted)).toEqual([true, true, true]);
      for (const call of manual.calls) call.resolve('late');
      await clock.flush();
      expect([a.peek(), cache.peek('key'), clock.timerCount]).toEqual([undefined, undefined, 0]);
    });
  }

  it('happens once: each call returns the promise of the first, whose options count', async () => {
    const { clock, group } = make();
    const a = group.value({ name: 'a', load: hang, timeout: Infinity });
    const events = recordEvents(a);
    void a.refresh();
    const closing = group.close({ timeout: 5 });
    expect(group.close({ timeout: Infinity })).toBe(closing);
    const disposed = group[Symbol.asyncDispose]();
    await clock.advance(5);
    const aborted = [{ name: 'a' }];
    expect(await settled(closing)).toEqual({ value: { drained: false, aborted, leases: [] } });
    expect(await settled(disposed)).toEqual({ value: undefined });
    expect(group.close()).toBe(closing);
    expect(wordsOf(events)).toEqual(['load-started', 'cancelled', 'closed']);
  });

  it('returns the same promise to a call from within it', async () => {
    const { clock, group } = make();
    const inMidst: Promise<unknown>[] = [];
    const load = ({ signal }: { signal: AbortSignal }): Promise<string> => {
      signal.addEventListener('abort', () => inMidst.push(group.close()));
      return hang();
    };
    void group.value({ name: 'a', load }).refresh();
    await clock.flush();
    const closing = group.close({ timeout: 0 });
    await clock.flush();
    expect(inMidst).toHaveLength(1);
    expect(inMidst[0] === closing).toBe(true);
  });

  it('rejects an invalid timeout, and stays open', async () => {
    const { group } = make();
    const a = group.value({ name: 'a', load: source().load });
    const error = thrownBy(() => group.close({ timeout: -1 }));
    expect(error).toMatchObject(ofOption('timeout'));
    expect({ get: await a.get(), closed: group.inspect().closed }).toEqual({ get: 'x', closed: false });
  });

  it('starts no load after it, whatever is called, and adds no member', async () => {
    const { clock, group, manual } = make({});
    const a = group.value({ name: 'a', load: manual.load });
    const cold = group.value({ name: 'cold', load: manual.load });
    const e = group.executor(manual.load as Task, { name: 'e' });
    const cache = group.cache({ name: 'c', load: (_key: string, context) => manual.load(context) });
    a.set('old');
    cache.set('k', 'old');
    await group.close();
    await clock.advance(5000);
    expect([a.current, await a.get(), cache.current('k'), await cache.get('k')]).toEqual(
      Array(4).fill('old'),
    );
    expect(thrownBy(() => cold.current)).toMatchObject({ code: 'NOT_LOADED' });
    a.invalidate();
    cache.invalidate();
    const ends: Promise<unknown>[] = [];
    group.requestStart({ waitUntil: (end) => void ends.push(end) });
    expect(await settled(ends[0] as Promise<void>)).toEqual({ value: undefined });
    for (const start of [
      () => a.refresh(),
      () => a.requestStart(),
      () => cold.get(),
      () => e.execute(),
      () => e.requestStart(),
      () => cache.get('cold'),
      () => cache.refresh('k'),
      () => cache.requestStart(),
      async () => group.value({ name: 'new', load: hang }),
      async () => group.cache({ name: 'new', load: hang }),
      async () => group.executor(hang, { name: 'new' }),
      async () => new RefreshingValue({ name: 'new', load: hang, group }),
    ]) {
      expect(isTicklessError(await rejectionOf(start()), 'CLOSED')).toBe(true);
    }
    await clock.flush();
    expect([manual.calls.length, clock.timerCount, group.inspect().members.length]).toEqual([0, 0, 4]);
  });
});

describe('health() as a request', () => {
  it('starts what is due, so that probes keep idle members fresh; inspect() does not', async () => {
    const { clock, group } = make({ maxStaleness: 5000, whenTooStale: 'throw' });
    const rates = source();
    const value = group.value({ name: 'rates', load: rates.load, required: true });
    await group.ready();
    await clock.advance(6000);
    group.inspect();
    value.inspect();
    await clock.flush();
    expect(rates.count).toBe(1);
    const asFound = { ok: true, problems: [{ kind: 'too-stale', isFatal: false }] };
    expect(group.health()).toMatchObject(asFound);
    await clock.flush();
    expect({ count: rates.count, get: await value.get() }).toEqual({ count: 2, get: 'x' });
    for (let probe = 0; probe < 360; probe++) {
      await clock.advance(10_000);
      group.health();
      await clock.flush();
      expect(value.inspect().state).toBe('fresh');
    }
    expect(clock.timerCount).toBe(0);
  });

  it('starts nothing that cools down, and nothing once the group is closed', async () => {
    const { clock, group } = make({ coolDown: 2000 });
    const down = source();
    down.isDown = true;
    group.value({ name: 'down', load: down.load });
    for (let probe = 0; probe < 5; probe++) {
      group.health();
      await clock.flush();
    }
    expect(down.count).toBe(1);
    await group.close();
    await clock.advance(DAY);
    group.health();
    await clock.flush();
    expect(down.count).toBe(1);
  });

  it('starts nothing with { start: false }, and reports the same', async () => {
    const { group } = make();
    const rates = source();
    group.value({ name: 'rates', load: rates.load, required: true });
    const reported = group.health({ start: false });
    expect({ ok: reported.ok, count: rates.count }).toEqual({ ok: false, count: 0 });
    expect(group.health()).toEqual(reported);
    await settled(group.ready());
    expect(rates.count).toBe(1);
    expect(thrownBy(() => group.health({ begin: false } as never))).toMatchObject({ code: 'OPTION' });
  });
});
