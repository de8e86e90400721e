import { describe, expect, it } from 'vitest';
import { absent, loaded } from '../../../src/index.ts';
import { type Instance, ManualCluster, warmPair } from '../../support/cluster.ts';
import {
  type KeyedInstance,
  keyedInstance,
  keyedPair,
  loadKey,
  readKeysFor,
} from '../../support/keyed-cluster.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

const drop = { drop: true } as const;
const WITHIN = 1000;
const own = { schedule: { hours: 1 }, propagateWithin: WITHIN } as const;

/** Two instances of a value: a mark or a value of the first is being read by a check of the second. */
async function whileChecking(
  change: (a: Instance) => Promise<unknown>,
  within: number = WITHIN,
): Promise<{
  cluster: ManualCluster;
  b: Instance;
  /** The store answers. */
  answer: () => Promise<void>;
}> {
  const { cluster, a, b } = await warmPair({ ...own, propagateWithin: within });
  await change(a);
  const answered = b.link.hold('read');
  while (!b.link.commands.some(({ step }) => step === 'read')) await cluster.readFor([b], 10);
  const answer = async (): Promise<void> => {
    answered.resolve();
    b.link.mend();
    await cluster.clock.flush();
  };
  return { cluster, b, answer };
}

/** Instances of a cache, of which the first has loaded these keys, each with its tag, and the others have adopted them. */
async function warmKeys(
  count: number,
  keys: Readonly<Record<string, string>>,
): Promise<{
  cluster: ManualCluster;
  instances: [KeyedInstance, KeyedInstance, ...KeyedInstance[]];
}> {
  const cluster = new ManualCluster();
  const [a, ...others] = Array.from({ length: count }, () => keyedInstance(cluster, own));
  for (const [key, tag] of Object.entries(keys)) {
    await loadKey(cluster, a as KeyedInstance, key, loaded(`${key}1`, { tags: [tag] }));
    await readKeysFor(cluster, others, 50, [key]);
  }
  (a as KeyedInstance).calls.length = 0;
  await cluster.clock.advance(10);
  return { cluster, instances: [a, ...others] as [KeyedInstance, KeyedInstance] };
}

describe('a value of which the reload has failed', () => {
  it.each([
    ['after a mark', async (a: Instance) => a.value.invalidate()],
    [
      'after an invalidation that was made there',
      async (_: Instance, b: Instance) => void b.value.invalidate({ here: true }),
    ],
  ])('takes over what is set everywhere, %s', async (_, invalidate) => {
    const { cluster, a, b } = await warmPair({ ...own, coolDown: 10_000 });
    await invalidate(a, b);
    await cluster.readFor([b], WITHIN + 50);
    await cluster.fail(b, 0, new Error('down'));
    await a.value.set('two');
    await cluster.readFor([b], 2 * WITHIN);
    expect(b.value.peek()).toBe('two');
  });

  it('is not served any longer when it is dropped everywhere', async () => {
    const { cluster, a, b } = await warmPair(own);
    b.value.invalidate({ here: true });
    await cluster.readFor([b], 50);
    await cluster.fail(b, 0, new Error('down'));
    await a.value.invalidate(drop);
    await cluster.readFor([b], WITHIN + 50);
    expect(b.value.peek()).toBe(undefined);
  });
});

it('a result that a drop elsewhere has overtaken is served no longer, while another instance loads', async () => {
  const { cluster, a, b } = await warmPair(own);
  void b.value.refresh();
  await cluster.clock.flush();
  await a.value.invalidate(drop);
  void a.value.get();
  await cluster.clock.advance(10);
  await cluster.end(b, 0, 'overtaken');
  expect(b.value.peek()).toBe('overtaken');
  await cluster.readFor([b], WITHIN + 50);
  expect(b.value.peek()).toBe(undefined);
});

it.each<[string, (b: Instance, cluster: ManualCluster) => Promise<unknown>]>([
  ['has failed', (b, cluster) => cluster.fail(b, 0, new Error('down'))],
  ['was cancelled', async (b) => void b.value.cancel('by hand')],
  ['has timed out', (_, { clock }) => clock.advance(3000)],
])(
  'after a mark, a load that %s is followed by the snapshot of another one, not by a second load',
  async (_, end) => {
    const cluster = new ManualCluster();
    const options = { ...own, coolDown: 10_000, timeout: 3000 };
    const [a, b] = await cluster.warm(2, options);
    await a.value.invalidate();
    await cluster.readFor([b], WITHIN + 50);
    expect(b.manual.calls.length).toBe(1);
    b.link.break('refused', 'check'); // which would adopt it sooner
    await end(b, cluster);
    b.manual.calls[0]?.reject(new Error('late'));
    await cluster.clock.flush();
    await cluster.refresh(a, 1, 'two', { here: true });
    await cluster.clock.advance(10_000);
    await cluster.readFor([b], 50);
    expect([b.value.peek(), b.manual.calls.length]).toEqual(['two', 1]);
  },
);

it('after a mark, a load that timed out while it waited for the one before is no second load either', async () => {
  const { cluster, a, b } = await warmPair({ ...own, coolDown: 100, timeout: 1000 });
  await a.value.invalidate();
  const failed = async (times: number): Promise<void> => {
    while (b.value.inspect().failures < times) await cluster.readFor([b], 10);
  };
  await failed(1); // its load goes on, with the lease
  b.link.break('refused', 'check');
  await failed(2);
  expect(b.manual.calls.length).toBe(1);
  await cluster.clock.advance(5000);
  await cluster.refresh(a, 1, 'two', { here: true });
  await cluster.readFor([b], 500);
  expect([b.value.peek(), b.manual.calls.length]).toEqual(['two', 1]);
});

describe('while a check reads a newer version', () => {
  it('an invalidation that is made here leaves the newer version in place, also where the load fails', async () => {
    const { cluster, b, answer } = await whileChecking((a) => a.value.set('two'));
    b.value.invalidate({ here: true });
    await answer();
    expect(b.value.peek()).toBe('two');
    await cluster.readFor([b], 20);
    await cluster.fail(b, 0, new Error('down'));
    expect([b.value.peek(), b.value.inspect().isDue]).toEqual(['two', true]);
  });

  it('an invalidation that is made here and drops the value is no reason to serve one of before', async () => {
    const { b, answer } = await whileChecking((a) => a.value.set('two'));
    b.value.invalidate({ drop: true, here: true });
    await answer();
    expect(b.value.peek()).toBe(undefined);
  });

  it('no other check reads it too', async () => {
    const { cluster, b } = await whileChecking((a) => a.value.set('two'), 100);
    await cluster.readFor([b], 900); // the step has a second
    expect(b.link.take().filter((step) => step === 'read').length).toBe(1);
  });

  it('a load may begin: if it fails the next check applies the mark', async () => {
    const { cluster, b, answer } = await whileChecking((a) => a.value.invalidate(drop));
    const refreshed = rejectionOf(b.value.refresh({ here: true }));
    await cluster.clock.flush();
    await answer();
    await cluster.fail(b, 0, new Error('down'));
    await refreshed;
    await cluster.readFor([b], WITHIN + 50);
    expect(b.value.peek()).toBe(undefined);
  });

  it('a value that is closed is served as it is', async () => {
    const { b, answer } = await whileChecking((a) => a.value.invalidate(drop));
    const closing = b.value.close();
    await answer();
    await closing;
    expect(b.value.current).toBe('one');
  });
});

it('a paused value takes over what is set everywhere, which is no load', async () => {
  const { cluster, a, b } = await warmPair(own);
  b.value.pause({ here: true });
  await a.value.set('two');
  await cluster.readFor([b], WITHIN + 50);
  expect(b.value.peek()).toBe('two');
});

describe('marks on keys', () => {
  it('that an instance learns of when it starts cost no load of keys with newer values', async () => {
    const { cluster, instances } = await warmKeys(2, { k: 'x', l: 'x' });
    const [a] = instances;
    await a.cache.invalidateTag('x');
    await cluster.clock.advance(10);
    await loadKey(cluster, a, 'k', loaded('k2', { tags: ['x'] }));
    await a.cache.set('l', 'by hand');
    await cluster.clock.advance(10);
    for (const [key, value] of [
      ['k', 'k2'],
      ['l', 'by hand'],
    ] as const) {
      const later = keyedInstance(cluster, own);
      await readKeysFor(cluster, [later], 2 * WITHIN, [key]);
      expect([later.cache.peek(key), later.calls.length]).toEqual([value, 0]);
    }
  });

  it('leave a tag that was invalidated here before to a load', async () => {
    const { cluster, instances } = await warmKeys(2, { k: 'x', l: 'y' });
    const [a, b] = instances;
    b.cache.invalidateTag('x', { here: true });
    await a.cache.set('l', 'by hand');
    await readKeysFor(cluster, [b], WITHIN + 50, ['l']);
    expect(b.cache.peek('l')).toBe('by hand');
    await readKeysFor(cluster, [b], 50);
    expect(b.calls.map(({ key }) => key)).toEqual(['k']);
  });

  it('serve a key that is invalidated, though it was dropped once before', async () => {
    const { cluster, instances } = await warmKeys(2, { k: 'x' });
    const [a, b] = instances;
    await a.cache.invalidate('k', drop);
    await readKeysFor(cluster, [b], WITHIN + 50);
    b.calls[0]?.resolve('k2');
    await readKeysFor(cluster, [a, b], WITHIN);
    await a.cache.invalidate('k');
    await readKeysFor(cluster, [b], WITHIN + 50);
    expect([b.cache.peek('k'), b.calls.length]).toEqual(['k2', 2]);
  });

  it('tell of a key that is gone, as refresh has found', async () => {
    const { cluster, instances } = await warmKeys(2, { k: 'x' });
    const [a, b] = instances;
    const refreshed = rejectionOf(a.cache.refresh('k'));
    await cluster.clock.flush();
    a.calls.at(-1)?.resolve(absent());
    await refreshed;
    await readKeysFor(cluster, [b], WITHIN + 50);
    expect([b.cache.peek('k'), b.calls.length]).toEqual([undefined, 0]);
  });

  it('may concern a key that JSON has no number for', async () => {
    const { cluster, a, b } = keyedPair(own);
    const key = Number.NaN as unknown as string;
    await loadKey(cluster, a, key, 'one');
    await readKeysFor(cluster, [b], 50, [key]);
    await a.cache.set(key, 'by hand');
    await readKeysFor(cluster, [b], WITHIN + 50, [key]);
    expect([b.cache.peek(key), b.logger.lines]).toEqual(['by hand', []]);
  });

  it('are read once where they are damaged, and again when there are others', async () => {
    const { cluster, instances } = await warmKeys(2, { k: 'x' });
    const [a, b] = instances;
    await a.cache.invalidateTag('y');
    const { version = 0 } = (await cluster.store.read('c')) ?? {};
    await cluster.store.write('c', 'garbage', version + 1);
    const reads = (): number =>
      b.link.commands.splice(0).filter(({ step, name }) => step === 'read' && name === 'c').length;
    reads();
    await readKeysFor(cluster, [b], 5 * WITHIN);
    expect([reads(), b.calls.length]).toEqual([1, 1]); // they may have been about any key
    await a.cache.invalidateTag('x');
    await readKeysFor(cluster, [b], WITHIN + 50);
    expect(reads()).toBe(1);
  });

  it('that wait for others are not published after close', async () => {
    const { cluster, instances } = await warmKeys(2, { k: 'x' });
    const [a] = instances;
    const answered = a.link.hold('write');
    const first = a.cache.invalidateTag('x');
    await cluster.clock.flush();
    const second = rejectionOf(a.cache.invalidateTag('y'));
    const closing = a.cache.close({ timeout: 0 });
    await cluster.clock.flush();
    a.link.take();
    answered.resolve();
    await cluster.clock.flush();
    await first;
    expect(await second).toMatchObject({ code: 'CLOSED' });
    expect(a.link.take()).toEqual([]);
    await cluster.clock.advance(1000);
    await closing;
  });
});

it('what was refused is not loaded again by others, though a person has set a value while the lock was unavailable', async () => {
  const cluster = new ManualCluster();
  const accept = (value: string): boolean => value !== 'bad';
  const [a, b] = await cluster.warm(2, { accept, coolDown: 20_000, logger: false });
  await cluster.clock.advance(1100);
  a.link.break('refused', 'release');
  await cluster.reload(a, 1, 'bad');
  await a.value.set('mine', { here: true });
  a.link.mend();
  await cluster.clock.advance(5000); // it is released by then
  expect(a.link.take().at(-1)).toBe('release');
  await cluster.read(b);
  expect(b.manual.calls.length).toBe(0);
  await cluster.readAfter(20_000, b);
  expect(b.manual.calls.length).toBe(1);
});

describe('a guard of a load that has waited for the lease of another instance', () => {
  it('compares with nothing where a person has dropped the value meanwhile: that was not published', async () => {
    const cluster = new ManualCluster();
    const seen: unknown[] = [];
    const a = cluster.instance();
    const b = cluster.instance({
      accept: (_, { previous }) => {
        seen.push(previous?.value);
        return true;
      },
    });
    void a.value.get();
    await cluster.clock.flush();
    const read = b.value.get();
    await cluster.clock.advance(50);
    void b.value.invalidate({ drop: true });
    await cluster.end(a, 0, loaded('one', { dueAfter: 1 }) as never);
    await cluster.clock.advance(5000);
    await cluster.end(b, 0, 'two');
    expect([await read, seen]).toEqual(['two', [undefined]]);
  });
});

it('a value that a person sets is adopted where another one could not be published behind a load that hangs', async () => {
  const { cluster, a, b } = await warmPair({ ...own, timeout: 500 });
  void b.value.refresh({ here: true }).catch(() => {});
  await cluster.clock.flush(); // it holds the lease, and ignores its signal
  b.link.break('refused', 'write');
  const failed = rejectionOf(b.value.set('b'));
  await cluster.readFor([b], 1000);
  expect(await failed).toMatchObject({ code: 'BACKEND_DOWN' });
  b.link.mend();
  await a.value.set('a');
  await cluster.readFor([b], WITHIN + 100);
  expect(b.value.peek()).toBe('a');
});

it('a load that began behind a mark of its instance is ended by what another instance sets', async () => {
  const cluster = new ManualCluster();
  const [a, b] = [cluster.instance({ schedule: { hours: 1 } }), cluster.instance({ schedule: { hours: 1 } })];
  const looked = a.link.holdOnce('read');
  const read = a.value.get();
  await cluster.clock.flush();
  void a.value.invalidate(drop);
  await cluster.clock.flush();
  looked.resolve();
  await cluster.clock.flush();
  expect(a.manual.calls).toHaveLength(1);
  void b.value.set('set');
  await cluster.clock.advance(2000); // the lease can't be extended
  a.manual.call(0).resolve('loaded');
  await cluster.clock.flush();
  expect(await read).toBe('set');
  expect(a.value.peek()).toBe('set');
});

it('a key that is being loaded for the first time is answered by what another instance sets', async () => {
  const cluster = new ManualCluster({}, 30_000); // the lease is not extended meanwhile
  const [a, b] = [keyedInstance(cluster, own), keyedInstance(cluster, own)];
  await loadKey(cluster, a, 'y', 'other');
  const read = a.cache.get('x');
  await cluster.clock.flush();
  await b.cache.set('x', 'set');
  await readKeysFor(cluster, [a], 2 * WITHIN, ['y']);
  const [, { context, reject } = {}] = a.calls;
  expect(context?.signal.aborted).toBe(true);
  reject?.(context?.signal.reason);
  await cluster.clock.flush();
  expect(await settled(read)).toEqual({ value: 'set' });
});
