import { describe, expect, it } from 'vitest';
import type { KeyedLoadReturn } from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { keyedInstance } from '../../support/keyed-cluster.ts';
import { rejectionOf } from '../../support/settle.ts';

interface Batch {
  readonly keys: readonly string[];
  readonly signal: AbortSignal;
  end(answers?: ReadonlyMap<string, KeyedLoadReturn<string> | Error>): void;
}

/** An instance whose batches end when the test says so; each key brings itself in capitals. */
function batching(cluster: ManualCluster) {
  const batches: Batch[] = [];
  const instance = keyedInstance(cluster, {
    loadMany: (keys, { signal }) =>
      new Promise((resolve) => {
        const all = (): Map<string, string> => new Map(keys.map((key) => [key, key.toUpperCase()]));
        batches.push({ keys, signal, end: (answers) => resolve(answers ?? all()) });
      }),
  });
  return { ...instance, batches };
}

describe('loadMany behind locks', () => {
  it('keys that were asked for together are one batch, though each has its lease', async () => {
    const cluster = new ManualCluster();
    const a = batching(cluster);
    const read = a.cache.getMany(['x', 'y', 'z']);
    await cluster.clock.advance(10);
    expect(a.batches.map(({ keys }) => keys)).toEqual([['x', 'y', 'z']]);
    a.batches[0]?.end();
    expect(Object.fromEntries(await read)).toEqual({ x: 'X', y: 'Y', z: 'Z' });
    await cluster.clock.flush();
    expect((await cluster.lock.list()).map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    expect(cluster.clock.timerCount).toBe(0);
  });

  it('also where the answers of the lock come one after the other', async () => {
    const cluster = new ManualCluster();
    const a = batching(cluster);
    a.link.fault = (step) =>
      step === 'acquire' ? new Promise((resolve) => setImmediate(resolve)) : undefined;
    const read = a.cache.getMany(['x', 'y', 'z']);
    while (a.batches.length === 0) await cluster.clock.flush(); // until the timeout of the test
    expect(a.batches.map(({ keys }) => keys)).toEqual([['x', 'y', 'z']]);
    a.batches[0]?.end();
    expect((await read).size).toBe(3);
  });

  it('those that another instance loads are taken over from it', async () => {
    const cluster = new ManualCluster();
    const [a, b] = [batching(cluster), batching(cluster)];
    const first = a.cache.getMany(['x', 'y']);
    await cluster.clock.advance(10);
    const second = b.cache.getMany(['x', 'y', 'z']);
    await cluster.clock.advance(10);
    expect(b.batches.map(({ keys }) => keys)).toEqual([['z']]);
    a.batches[0]?.end();
    b.batches[0]?.end();
    await cluster.clock.advance(500);
    expect((await first).get('y')).toBe('Y');
    expect(Object.fromEntries(await second)).toEqual({ x: 'X', y: 'Y', z: 'Z' });
    expect(b.batches).toHaveLength(1);
  });

  it('a key that fails gives its lease back as failed, the others theirs as done', async () => {
    const cluster = new ManualCluster();
    const a = batching(cluster);
    const read = rejectionOf(a.cache.getMany(['x', 'y']));
    await cluster.clock.advance(10);
    a.batches[0]?.end(
      new Map<string, string | Error>([
        ['x', 'X'],
        ['y', new Error('down')],
      ]),
    );
    await read;
    await cluster.clock.flush();
    const states = (await cluster.lock.list()).map(({ name, state }) => [name, state]);
    expect(Object.fromEntries(states)).toEqual({ 'c["x"]': 'done', 'c["y"]': 'failed' });
  });

  it('a key that is invalidated while its batch gathers does not hold up its successor', async () => {
    const cluster = new ManualCluster();
    const a = batching(cluster);
    const read = a.cache.get('x');
    const steps = (): string[] => a.link.commands.map(({ step }) => step);
    for (let turn = 0; turn < 500 && !steps().includes('acquire'); turn++) await Promise.resolve();
    for (let turn = 0; turn < 40; turn++) await Promise.resolve(); // it has its lease, and boards
    expect(steps()).toEqual(['read', 'read', 'acquire']);
    expect(a.batches).toHaveLength(0);
    a.cache.invalidate('x', { here: true });
    await cluster.clock.advance(100);
    expect(a.batches.map(({ keys }) => keys)).toEqual([['x']]);
    a.batches[0]?.end();
    expect(await read).toBe('X');
  });

  it('a key that is invalidated while its batch loads keeps its lease until that has ended', async () => {
    const cluster = new ManualCluster();
    const a = batching(cluster);
    const reads = a.cache.getMany(['x', 'y']);
    await cluster.clock.advance(10);
    a.cache.invalidate('x', { here: true });
    const after = a.cache.get('x');
    await cluster.clock.advance(100);
    expect(a.batches).toHaveLength(1);
    expect(a.batches[0]?.signal.aborted).toBe(false);
    expect((await cluster.lock.inspect('c["x"]'))?.state).toBe('running');
    a.batches[0]?.end();
    await cluster.clock.advance(100);
    expect(a.batches[1]?.keys).toEqual(['x']);
    a.batches[1]?.end();
    expect([Object.fromEntries(await reads), await after]).toEqual([{ x: 'X', y: 'Y' }, 'X']);
  });
});
