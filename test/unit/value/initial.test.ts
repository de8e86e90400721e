import { describe, expect, it, vi } from 'vitest';
import { keep, RefreshGroup, type RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { recordChanges, recordLines } from '../../support/events.ts';
import { fakeValue, type ManualValue, manualValue } from '../../support/manual-value.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';
import { shortTexts } from '../../support/short-texts.ts';

const HOUR = 3_600_000;

type Options = Parameters<typeof manualValue>[0];

/** A value that has shipped with its service an hour ago. */
function shipped(options: Options = {}, loadedAgo: number = HOUR): ManualValue {
  const loadedAt = manualValue().clock.now() - loadedAgo; // all fake clocks begin at one time
  return manualValue({ initial: { value: 'shipped', loadedAt }, schedule: 2 * HOUR, ...options });
}

/** Time passes with each reading. */
class TickingClock extends FakeClock {
  #reads = 0;

  override monotonic(): number {
    this.#reads += 1;
    return super.monotonic() + this.#reads / 1000;
  }
}

describe('an initial value', () => {
  it.each<[string, (value: RefreshingValue<string>) => unknown]>([
    ['get', (value) => value.get()],
    ['current', (value) => value.current],
    ['get with patience', (value) => value.get({ patience: 1 })],
    ['requestStart', (value) => value.requestStart()],
  ])('is due from its first read, which starts the load behind it: by %s', async (_, read) => {
    for (const hasBackend of [false, true]) {
      const clock = new TickingClock({ now: 1000 });
      const { lock, store } = new ManualCluster().link();
      const { value, manual } = manualValue({
        clock,
        initial: { value: 'shipped', loadedAt: 1000 },
        schedule: HOUR,
        ...(hasBackend ? { backend: { lock, store } } : {}),
      });
      void read(value);
      await clock.advance(10);
      expect([value.peek(), manual.calls.length]).toEqual(['shipped', 1]);
    }
  });

  it.each<[string, (group: RefreshGroup, other: RefreshingValue<string>) => unknown]>([
    ['a request', (group) => group.requestStart()],
    ['a probe', (group) => group.health()],
    ['a read of another member', (_, other) => other.get()],
  ])('is due for its group before it was read: %s starts the load', async (_, begin) => {
    const clock = new TickingClock({ now: 1000 });
    const group = new RefreshGroup({ logger: false, clock });
    const { manual } = manualValue({ clock, group, initial: { value: 'shipped', loadedAt: 1000 } });
    const { value: other } = manualValue({ clock, group, name: 'other' });
    void begin(group, other);
    await clock.advance(10);
    expect(manual.calls.length).toBe(1);
  });

  it('is served at once with its age, while the first load runs behind', async () => {
    const { value, manual, clock } = shipped();
    const changes = recordChanges(value);
    expect(await settled(value.get())).toEqual({ value: 'shipped' });
    const loadedAt = clock.now() - HOUR;
    expect(value.inspect()).toMatchObject({
      value: 'shipped',
      state: 'stale',
      isInitial: true,
      age: HOUR,
      loadedAt,
      lastEndedAt: undefined,
      running: true,
    });
    const { trigger, background, previous } = manual.call(0).context;
    expect([trigger, background, previous]).toEqual(['first', true, { value: 'shipped', loadedAt }]);
    manual.call(0).resolve('loaded');
    await clock.flush();
    expect(value.inspect()).toMatchObject({ value: 'loaded', state: 'fresh', age: 0 });
    expect(value.inspect()).not.toHaveProperty('isInitial');
    expect(changes).toMatchObject([
      { value: 'shipped', cause: 'restored', version: undefined },
      { value: 'loaded', previous: 'shipped', cause: 'loaded' },
    ]);
  });

  it('is there for each first use: current, peek, inspect, requestStart; a refresh passes it to the load', async () => {
    const uses: ((made: RefreshingValue<string>) => unknown)[] = [
      (made) => made.current,
      (made) => made.peek(),
      (made) => made.inspect().value,
      (made) => made.requestStart(),
    ];
    for (const use of uses) {
      const { value } = shipped();
      await use(value);
      expect(value.peek()).toBe('shipped');
    }
    const { value, manual } = shipped();
    void value.refresh();
    expect(manual.call(0).context.previous).toMatchObject({ value: 'shipped' });
  });

  it('from the future has age 0; a Date will do', () => {
    const { value, clock } = shipped({}, -HOUR);
    expect(value.inspect().age).toBe(0);
    const initial = { value: 'shipped', loadedAt: new Date(clock.now() - 5) };
    expect(shipped({ initial }).value.inspect().age).toBe(5);
  });

  it('older than maxStaleness is refused as any value is', async () => {
    const limits = { maxStaleness: HOUR, schedule: HOUR / 2 };
    expect(await settled(shipped(limits, HOUR).value.get())).toEqual({ value: 'shipped' });
    const { value } = shipped(limits, HOUR + 1);
    expect(await settled(value.get())).toBe('pending');
    const thrown = thrownBy(() => shipped({ ...limits, whenTooStale: 'throw' }, HOUR + 1).value.current);
    expect(thrown).toMatchObject({ code: 'TOO_STALE' });
  });

  it('goes on being served when loads fail, which health reports', async () => {
    const group = new RefreshGroup({ logger: false });
    const { value, manual, clock } = shipped({ group, required: true });
    expect(group.health()).toEqual({ ok: true, problems: [] });
    value.current;
    await clock.flush();
    manual.call(0).reject(new Error('down'));
    await clock.flush();
    expect(value.current).toBe('shipped');
    const message = 'failed, the initial value is served: load failed: down';
    expect(group.health()).toMatchObject({ ok: true, problems: [{ kind: 'failing', message }] });
    await clock.advance(1000);
    value.current;
    await clock.flush();
    expect(manual.calls.length).toBe(2);
  });

  it('may be kept: it is the value of the source from then on', async () => {
    const { value, clock } = fakeValue<string>(() => keep(), { initial: { value: 'shipped', loadedAt: 0 } });
    value.current;
    await clock.flush();
    expect(value.inspect()).toMatchObject({ value: 'shipped', age: 0, state: 'fresh' });
    expect(value.inspect()).not.toHaveProperty('isInitial');
  });

  it('stays due when the schedule is replaced or the clock stepped', async () => {
    const { value, manual, clock } = shipped({}, 1000);
    value.current;
    await clock.flush();
    manual.call(0).reject(new Error('down'));
    await clock.flush();
    value.reschedule(HOUR);
    clock.stepWall(HOUR);
    expect(value.inspect().isDue).toBe(true);
    clock.stepWall(-HOUR);
    expect(value.inspect().isDue).toBe(true);
  });

  it('leaves with a drop for good, also before it was used', async () => {
    for (const isUsed of [true, false]) {
      const { value } = shipped();
      if (isUsed) value.peek();
      value.invalidate({ drop: true });
      expect(await settled(value.get())).toBe('pending');
    }
  });

  it('yields to what was set', () => {
    const made = shipped();
    made.value.set('set');
    expect(made.value.current).toBe('set');
  });

  it('is checked at construction, with its loadedAt', () => {
    for (const initial of [
      null,
      'shipped',
      { value: 'shipped' },
      { loadedAt: 0 },
      { value: Promise.resolve('x'), loadedAt: 0 },
      { value: 'x', loadedAt: Number.NaN },
      { value: 'x', loadedAt: '2026' },
    ]) {
      // biome-ignore format: short
      const make = () => manualValue({ initial: initial as never });
      expect(thrownBy(make)).toMatchObject(ofOption('initial'));
    }
  });
});

describe('an initial value of a function', () => {
  it('is asked for once, at the first use, and not where there is a value', () => {
    const initial = vi.fn(() => ({ value: 'shipped', loadedAt: 0 }));
    const { value } = manualValue({ initial });
    expect(initial).not.toHaveBeenCalled();
    expect([value.current, value.current]).toEqual(['shipped', 'shipped']);
    value.invalidate({ drop: true });
    value.peek();
    expect(initial).toHaveBeenCalledOnce();
    const other = vi.fn(() => ({ value: 'shipped', loadedAt: 0 }));
    const { value: wasSet } = manualValue({ initial: other });
    wasSet.set('set');
    wasSet.invalidate();
    expect([wasSet.current, other.mock.calls.length]).toEqual(['set', 0]);
  });

  it('counts as none when it throws, returns undefined or something else; errors are logged', async () => {
    for (const [initial, line] of [
      [() => undefined, undefined],
      [() => { throw new Error('no such file'); }, 'initial failed, ignored: no such file'], // biome-ignore format: short
      [() => ({ value: 'x' }), 'initial failed, ignored: must be { value, loadedAt }'],
      [async () => ({ value: 'x', loadedAt: 0 }), 'initial failed, ignored: must be { value, loadedAt }'],
    ] as const) {
      const logger = recordLines();
      const { value } = manualValue({ logger, initial: initial as never });
      expect(await settled(value.get())).toBe('pending');
      expect(logger.lines).toEqual(line === undefined ? [] : [expect.stringContaining(line)]);
    }
  });

  it('must fit the schema, whose output is the value', () => {
    const logger = recordLines();
    const schema = shortTexts();
    const make = (value: string) => manualValue({ logger, schema, initial: () => ({ value, loadedAt: 0 }) });
    expect([make('short').value.peek(), make('too long').value.peek()]).toEqual(['SHORT', undefined]);
    expect(logger.lines).toEqual([expect.stringMatching('initial failed, ignored: .*over 5 characters')]);
  });

  it('may read the value itself', async () => {
    const { value, manual } = manualValue({
      initial: () => {
        void value.get();
        return { value: 'shipped', loadedAt: 0 };
      },
    });
    expect(await value.get()).toBe('shipped');
    expect(manual.calls.length).toBe(1);
  });
});

describe('ready() of a group with a required initial value', () => {
  it('is ready at once, and has started the load', async () => {
    const group = new RefreshGroup({ logger: false });
    const { manual, clock } = shipped({ group, required: true });
    expect(await group.ready()).toEqual({ ok: true, problems: [] });
    await clock.flush();
    expect(manual.calls.length).toBe(1);
  });

  it('waits for the load where the initial value may not be served', async () => {
    const group = new RefreshGroup({ logger: false });
    const limits = { maxStaleness: HOUR, schedule: HOUR / 2 };
    const { manual } = shipped({ group, required: true, ...limits }, HOUR + 1);
    const ready = group.ready();
    expect(await settled(ready)).toBe('pending');
    manual.call(0).resolve('loaded');
    expect(await ready).toMatchObject({ ok: true });
  });
});

describe('an initial value in a cluster', () => {
  it('yields to a snapshot that is younger, which the first execution adopts, and not to an older one', async () => {
    const cluster = new ManualCluster();
    const first = cluster.instance();
    await cluster.load(first, 'one');
    const loadedAt = cluster.clock.now();
    await cluster.clock.advance(2 * HOUR);
    const older = cluster.instance({ initial: { value: 'shipped', loadedAt: loadedAt - 1 } });
    const younger = cluster.instance({ initial: { value: 'shipped', loadedAt: loadedAt + HOUR } });
    for (const { value } of [older, younger]) expect(await value.get()).toBe('shipped');
    await cluster.clock.flush();
    expect([older.value.peek(), older.manual.calls.length]).toEqual(['one', 0]);
    expect([younger.value.peek(), younger.manual.calls.length]).toEqual(['shipped', 1]);
    expect(younger.value.inspect().lock).toMatchObject({ version: undefined });
    const refused = rejectionOf(younger.value.refresh());
    younger.manual.call(0).reject(new Error('down'));
    expect(await refused).toMatchObject({ code: 'LOAD_FAILED' });
    expect(younger.value.peek()).toBe('shipped');
  });

  it('yields to a pinned version, however young it is itself', async () => {
    const cluster = new ManualCluster({ keepVersions: 2 });
    const first = cluster.instance();
    await cluster.load(first, 'one');
    await cluster.reloadAfter(2000, first, 1, 'two');
    const rollback = first.value.rollback({ by: 'anna', note: 'wrong' });
    await cluster.clock.flush();
    await rollback;
    await cluster.clock.advance(HOUR);
    const { value } = cluster.instance({ initial: { value: 'shipped', loadedAt: cluster.clock.now() } });
    expect(await value.get()).toBe('shipped');
    await cluster.clock.flush();
    expect(value.inspect()).toMatchObject({ value: 'one', pinned: { by: 'anna' } });
  });
});
