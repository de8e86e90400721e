import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { type Candidate, KEEP_MS } from './candidates/candidate.ts';
import { median, shuffled, VALUE } from './turns.ts';

/** The cost of 10,000 concurrent first reads of one candidate. Medians. */
export interface Stampede {
  readonly name: string;
  readonly loads: number;
  /** From the first read until all have the value, in milliseconds, including the load. */
  readonly elapsed: number;
  /** Processor time of all threads, in milliseconds; the load itself uses none. */
  readonly worked: number;
  /** Medians of the ratios of each round. */
  readonly elapsedToLruCache: number;
  readonly workedToLruCache: number;
}

interface Round {
  readonly loads: number;
  readonly elapsed: number;
  readonly worked: number;
}

const READERS = 10_000;
const LOAD_MS = 20;
const ROUNDS = 15;
const WARM_UP_ROUNDS = 3;

/** Each round gives every candidate one stampede on a new, empty cache, in random order. */
export async function measureStampedes(candidates: readonly Candidate[]): Promise<Stampede[]> {
  const all = candidates.map((candidate) => ({ candidate, rounds: [] as Round[] }));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    globalThis.gc?.(); // once: after several collections V8 drops code that did not run in between
    await turn();
    for (const { candidate, rounds } of shuffled(all)) {
      const found = await stampede(candidate);
      if (round >= 0) rounds.push(found);
    }
  }
  const lruCache = all.find(({ candidate }) => candidate.name === 'lru-cache')?.rounds ?? [];
  return all.map(({ candidate: { name }, rounds }) => {
    const of = (kind: keyof Round): number => median(rounds.map((round) => round[kind]));
    const toLruCache = (kind: keyof Round): number =>
      median(rounds.map((round, i) => round[kind] / (lruCache[i]?.[kind] ?? Number.NaN)));
    return {
      name,
      loads: of('loads'),
      elapsed: of('elapsed'),
      worked: of('worked'),
      elapsedToLruCache: toLruCache('elapsed'),
      workedToLruCache: toLruCache('worked'),
    };
  });
}

async function stampede({ open }: Candidate): Promise<Round> {
  let loads = 0;
  const { read } = open(async () => {
    loads += 1;
    await sleep(LOAD_MS);
    return VALUE;
  }, KEEP_MS / 2);
  const start = performance.now();
  const before = process.cpuUsage();
  const values = await Promise.all(Array.from({ length: READERS }, read));
  const { user, system } = process.cpuUsage(before);
  const elapsed = performance.now() - start;
  if (values.some((value) => value !== VALUE)) throw new Error('a read returned a wrong value');
  return { loads, elapsed, worked: (user + system) / 1000 };
}
