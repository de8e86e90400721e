import { expect, it, vi } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { type Accept, RefreshingValue, type ValueOptions } from '../../../src/index.ts';
import type { StandardSchema } from '../../../src/schema.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { isOutcome } from '../../support/events.ts';
import { storeOf } from '../../support/parts.ts';

const GOOD = Array.from({ length: 100 }, (_, index) => index);

const notEmpty: Accept<readonly number[]> = (list) => list.length > 0 || 'empty';
const notHalf: Accept<readonly number[]> = (list, { previous }) =>
  previous === undefined || list.length * 2 > previous.value.length || 'too few';
const numbers: StandardSchema<readonly number[]> = {
  '~standard': {
    version: 1,
    validate: (value) =>
      Array.isArray(value) && value.every((one) => typeof one === 'number')
        ? { value }
        : { issues: [{ message: 'no numbers' }] },
  },
};

type Options = Partial<ValueOptions<readonly number[]>>;

/** Instances that share a lock and a store, and a source that returns what `source.now` is. */
function fleet(count: number, options: Options) {
  const clock = new FakeClock();
  const backend = memoryBackend({ clock });
  const source: { now: unknown } = { now: GOOD };
  const load = vi.fn(async () => source.now as readonly number[]);
  const instance = (own: Options = {}): RefreshingValue<readonly number[]> =>
    new RefreshingValue<readonly number[]>({
      name: 'v',
      load,
      schedule: 5000,
      random: () => 0.5,
      logger: false,
      clock,
      backend,
      ...options,
      ...own,
    });
  const instances = Array.from({ length: count }, () => instance());
  /** Reads all of them every 100 ms. @returns what they have read, and the number of loads. */
  async function run(ms: number): Promise<{ read: Set<unknown>; loads: number }> {
    const before = load.mock.calls.length;
    const read = new Set<unknown>();
    for (let at = 0; at < ms; at += 100) {
      for (const one of instances) void one.get().then((value) => read.add(value.length));
      await clock.advance(100);
    }
    return { read, loads: load.mock.calls.length - before };
  }
  return { clock, store: storeOf(backend), source, load, instance, instances, run };
}

it.each([
  ['[]', [], { accept: notEmpty }],
  ['half of the rows', GOOD.slice(50), { accept: notHalf }],
  ['garbage', '<html>', { schema: numbers }],
] as const)(
  'rule 23: four instances load once in a cool-down, all together, and serve what they had, of a source that answers with %s',
  async (_, bad, guard) => {
    const { source, run } = fleet(4, { ...guard, coolDown: { initial: 1000, max: 16_000 } });
    await run(5000);
    source.now = bad;
    const outage = await run(180_000);
    const atTheCap = await run(120_000); // 12 s each
    expect([outage.read, atTheCap.read]).toEqual([new Set([100]), new Set([100])]);
    expect(atTheCap.loads).toBeGreaterThanOrEqual(9);
    expect(atTheCap.loads).toBeLessThanOrEqual(10);
    source.now = GOOD.slice(1);
    expect((await run(20_000)).read).toContain(99);
  },
);

it('compares with the last snapshot of the store after a restart, however old', async () => {
  const accept = vi.fn(notHalf);
  const { clock, source, instance, instances, run } = fleet(1, { accept, maxStaleness: 6000 });
  await run(100);
  const loadedAt = instances[0]?.inspect().loadedAt;
  await clock.advance(3_600_000);
  source.now = GOOD.slice(50);
  await expect(instance().get()).rejects.toThrow('value refused: too few (size 50, before 100)');
  expect(accept.mock.lastCall?.[1]).toMatchObject({ previous: { value: GOOD, loadedAt }, trigger: 'first' });
});

it('reads the store for that once at most, and not where there is a value', async () => {
  const cluster = new ManualCluster();
  const accept = vi.fn(() => true);
  const one = cluster.instance({ accept });
  await cluster.load(one, 'one');
  expect(one.link.take()).toEqual(['read', 'acquire', 'write']);
  await cluster.refresh(one, 1, 'two');
  expect(one.link.take()).toEqual(['acquire', 'write']);
  const cold = cluster.instance({ accept });
  await expect(cluster.refresh(cold, 0, 'three')).resolves.toBe('three');
  expect(cold.link.take()).toEqual(['acquire', 'read', 'write']);
  expect(accept.mock.lastCall).toMatchObject([
    'three',
    { previous: { value: 'two' }, version: expect.any(Number) },
  ]);
});

it('publishes the output of the schema, and checks what comes from the store', async () => {
  const cluster = new ManualCluster();
  const upper: StandardSchema<string> = {
    '~standard': {
      version: 1,
      validate: (value) =>
        value === 'BAD' ? { issues: [{ message: 'bad' }] } : { value: String(value).toUpperCase() },
    },
  };
  await cluster.load(cluster.instance({ schema: upper }), 'one');
  const plain = cluster.instance();
  await expect(plain.value.get()).resolves.toBe('ONE');
  await cluster.refresh(plain, 0, 'BAD');
  const strict = cluster.instance({ schema: upper });
  await expect(cluster.load(strict, 'two')).resolves.toBe('TWO');
  expect(strict.events.find(isOutcome('refused'))).toMatchObject({
    error: new Error('the schema refuses it: bad'),
  });
});

it('changes nothing when a value that is set is refused', () => {
  const value = new RefreshingValue<readonly number[]>({ name: 'v', load: () => [1], schema: numbers });
  value.set([2]);
  expect(() => value.set(['3'] as never)).toThrow(
    'v: value refused: the schema refuses it: no numbers (size 1)',
  );
  expect(value.current).toEqual([2]);
});
