import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DueHeap } from '../../../src/due/due-heap.ts';

/** Removes all items, the soonest first. */
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

  it('returns the items in the order of their instants, a moved one at its last instant', () => {
    const heap = new DueHeap();
    for (const [item, instant] of [50, -3, 7, 0.5, 1e9, 8, -Infinity, 6].entries()) heap.set(item, instant);
    heap.set(4, 1);
    heap.set(6, 20);
    expect(heap.size).toBe(8);
    expect(drained(heap).map(([item]) => item)).toEqual([1, 3, 4, 7, 2, 5, 6, 0]);
    expect([heap.size, heap.soonest, heap.soonestAt]).toEqual([0, undefined, Infinity]);
  });

  it('has at each step the soonest of a sorted list of the same items', () => {
    const instant = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 12 }) }, // ties
      { weight: 3, arbitrary: fc.double({ noNaN: true, min: -1e6, max: 1e6 }).map((at) => at + 0) }, // -0 + 0 is 0
      { weight: 2, arbitrary: fc.constantFrom(Infinity, Number.NEGATIVE_INFINITY) },
    );
    const command = fc.record({
      item: fc.integer({ min: 0, max: 40 }),
      to: fc.oneof({ weight: 4, arbitrary: instant }, fc.constant('delete' as const)),
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

  it('with 100,000 items costs little more per item than with 1,000', () => {
    /** Processor time in microseconds for heaps of `count` items: each set, moved, and removed from the front. */
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
    // n log n: 17 / 10 = 1.7 times as much. A scan of all items each time: 100 times.
    expect(large / small).toBeLessThan(20);
  });
});
