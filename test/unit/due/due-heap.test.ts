import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DueHeap } from '../../../src/due/due-heap.ts';

/** Takes all out, the soonest first. */
function drained(heap: DueHeap): [item: number, instant: number][] {
  const taken: [number, number][] = [];
  while (heap.soonest !== undefined) {
    taken.push([heap.soonest, heap.soonestAt]);
    heap.delete(heap.soonest);
  }
  return taken;
}

describe('DueHeap', () => {
  it('without items has no soonest, at Infinity', () => {
    const heap = new DueHeap();
    expect([heap.size, heap.soonest, heap.soonestAt]).toEqual([0, undefined, Infinity]);
  });

  it('gives the items in the order of their instants, in whatever order they came', () => {
    const heap = new DueHeap();
    const instants = [50, -3, 7, 0.5, 1e9, 8, Number.NEGATIVE_INFINITY, 6];
    instants.forEach((instant, item) => {
      heap.set(item, instant);
    });
    expect(heap.size).toBe(8);
    expect(drained(heap).map(([item]) => item)).toEqual([6, 1, 3, 7, 2, 5, 0, 4]);
    expect([heap.size, heap.soonest, heap.soonestAt]).toEqual([0, undefined, Infinity]);
  });

  it('moves an item that it holds, sooner and later, and holds it once', () => {
    const heap = new DueHeap();
    for (let item = 0; item < 10; item++) heap.set(item, 100 + item);
    heap.set(7, 1);
    expect([heap.soonest, heap.soonestAt, heap.size]).toEqual([7, 1, 10]);
    heap.set(7, 500);
    expect([heap.soonest, heap.soonestAt, heap.size]).toEqual([0, 100, 10]);
    heap.set(0, 104.5);
    expect(drained(heap).map(([item]) => item)).toEqual([1, 2, 3, 4, 0, 5, 6, 8, 9, 7]);
  });

  it('Infinity takes an item out, and puts none in', () => {
    const heap = new DueHeap();
    heap.set(0, Infinity);
    expect([heap.size, heap.soonest]).toEqual([0, undefined]);
    heap.set(1, 5);
    heap.set(2, 6);
    heap.set(1, Infinity);
    expect([heap.size, heap.soonest, heap.soonestAt]).toEqual([1, 2, 6]);
    heap.set(2, Infinity);
    expect([heap.size, heap.soonest, heap.soonestAt]).toEqual([0, undefined, Infinity]);
  });

  it('to delete what it does not hold changes nothing', () => {
    const heap = new DueHeap();
    heap.delete(3);
    heap.set(1, 5);
    heap.delete(0);
    heap.delete(400);
    heap.delete(1);
    heap.delete(1);
    expect(heap.size).toBe(0);
    heap.set(1, 6);
    expect(drained(heap)).toEqual([[1, 6]]);
  });

  it('gives all of those that are due at the same instant, each once', () => {
    const heap = new DueHeap();
    for (let item = 0; item < 100; item++) heap.set(item, item % 3);
    const taken = drained(heap);
    expect(taken.map(([, instant]) => instant)).toEqual(
      Array.from({ length: 100 }, (_, place) => Math.floor(place / 33.34)),
    );
    expect(new Set(taken.map(([item]) => item)).size).toBe(100);
  });

  it('an item may come again after it was taken out', () => {
    const heap = new DueHeap();
    for (let round = 0; round < 5; round++) {
      for (let item = 0; item < 20; item++) heap.set(item, (item * 7 + round) % 20);
      expect(drained(heap).map(([, instant]) => instant)).toEqual(Array.from({ length: 20 }, (_, at) => at));
    }
  });

  it('has at each step the soonest of a sorted list of the same items', () => {
    const instant = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 12 }) }, // ties
      { weight: 3, arbitrary: fc.double({ noNaN: true, min: -1e6, max: 1e6 }) },
      { weight: 2, arbitrary: fc.constantFrom(Infinity, Number.NEGATIVE_INFINITY) },
    );
    const command = fc.record({
      item: fc.integer({ min: 0, max: 40 }),
      to: fc.oneof(
        { weight: 4, arbitrary: instant },
        { weight: 1, arbitrary: fc.constant('delete' as const) },
      ),
    });
    fc.assert(
      fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
        const heap = new DueHeap();
        const model = new Map<number, number>();
        for (const { item, to } of commands) {
          if (to === 'delete') heap.delete(item);
          else heap.set(item, to);
          if (to === 'delete' || to === Infinity) model.delete(item);
          else model.set(item, to);

          const sorted = [...model.values()].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
          expect(heap.size).toBe(sorted.length);
          expect(heap.soonestAt).toBe(sorted[0] ?? Infinity);
          expect(heap.soonest === undefined ? undefined : model.get(heap.soonest)).toBe(sorted[0]);
        }
        const taken = drained(heap);
        expect(new Map(taken)).toEqual(model);
        expect(taken).toHaveLength(model.size);
        expect(taken.every(([, at], place) => place === 0 || at >= (taken[place - 1]?.[1] ?? 0))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('100,000 items, each put in, moved and taken out, cost a hundred times as much as 1,000, and some', () => {
    /** Processor time in microseconds for heaps of so many items: set, moved, and taken out from the front. */
    function costOf(heaps: number, count: number): number {
      const { user } = process.cpuUsage();
      for (let left = heaps; left > 0; left--) {
        const heap = new DueHeap();
        for (let item = 0; item < count; item++) heap.set(item, (item * 7919) % count);
        for (let item = 0; item < count; item++) heap.set(item, (item * 104_729) % count);
        for (let item = 0; item < count; item++) heap.delete(heap.soonest as number);
        expect(heap.size).toBe(0);
      }
      return process.cpuUsage().user - user;
    }
    costOf(20, 1000); // warm
    const small = costOf(100, 1000);
    const large = Math.min(...[1, 2, 3].map(() => costOf(1, 100_000)));
    // n log n: 17 / 10 = 1.7 times as much. One that looks at all items each time: 100 times.
    expect(large / small).toBeLessThan(20);
  });
});
