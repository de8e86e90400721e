import { RefreshingValue } from '../dist/index.js';
import { HandClock } from './hand-clock.ts';
import { awaitedLoop } from './loop.ts';
import { type Contestant, contestant, medianNs, ratioOf, takeTurns, VALUE } from './turns.ts';

/** The cost of one of many concurrent reads, with its share of their common load. */
export interface ReadersCost {
  readonly name: string;
  readonly figures: readonly {
    readonly readers: number;
    /** Median nanoseconds per read. */
    readonly ns: number;
    /** Median of the ratios of each round to the largest number of readers. */
    readonly toMost: number;
  }[];
}

const PERIOD_MS = 10_000;
const ROUNDS = 100;

/** @param counts how many readers at a time, the fewest first. */
export async function measureReaders(counts: readonly number[]): Promise<ReadersCost[]> {
  return [
    await cost('the value is due: all reads are served at once', counts, false),
    await cost('there is no value: all reads wait for the load', counts, true),
  ];
}

async function cost(name: string, counts: readonly number[], waits: boolean): Promise<ReadersCost> {
  const all = counts.map((readers) => ({
    readers,
    ...contestant(`${name}, ${readers}`, awaitedLoop(round(readers, waits))),
  }));
  await takeTurns(all, { rounds: ROUNDS });
  const most = all.at(-1) as Contestant & { readers: number };
  return {
    name,
    figures: all.map((each) => ({
      readers: each.readers,
      ns: medianNs(each) / each.readers,
      toMost: (ratioOf(each, most) * most.readers) / each.readers,
    })),
  };
}

/** Makes the value due, or drops it; then all readers read it, the load ends, and all have the value. */
function round(readers: number, waits: boolean): () => Promise<number> {
  const clock = new HandClock();
  let loads = 0;
  let end = (_value: number): void => {};
  const load = (): Promise<number> => {
    loads += 1;
    return new Promise((resolve) => {
      end = resolve;
    });
  };
  const value = new RefreshingValue({ name: 'bench', load, schedule: PERIOD_MS, timeout: Infinity, clock });
  value.set(VALUE);
  return async () => {
    loads = 0;
    if (waits) value.invalidate({ drop: true });
    else clock.advance(PERIOD_MS);
    let ended: Promise<unknown> = Promise.resolve();
    const waitUntil = (promise: Promise<unknown>): void => {
      ended = promise;
    };
    const reads = Array.from({ length: readers }, (_, i) =>
      i === 0 ? value.get({ waitUntil }) : value.get(),
    );
    if (!waits) await Promise.all(reads);
    await undefined; // a background load has begun
    end(VALUE);
    const got = await Promise.all(reads);
    await ended;
    return loads === 1 && got.every((each) => each === VALUE) ? VALUE : 0;
  };
}
