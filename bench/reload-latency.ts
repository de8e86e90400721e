import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { type Candidate, KEEP_MS, type Opened } from './candidates/candidate.ts';
import { shuffled, VALUE } from './turns.ts';

/** The durations of reads, in nanoseconds. */
export interface Latency {
  readonly reads: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** The reads of one candidate while its value is fresh, and while a reload is due or running. */
export interface ReloadLatency {
  readonly name: string;
  readonly fresh: Latency;
  readonly reloading: Latency;
  /** The number of reloads. */
  readonly loads: number;
}

/** The reads of all readers in a window, and their durations. */
interface Subject extends Opened {
  readonly histogram: RecordableHistogram;
}

const READERS = 1000;
const LOAD_MS = 500;
/** So short that the next reload is due as soon as the last one has ended. */
const PERIOD_MS = 1;
const WINDOW_MS = 150;
const ROUNDS = 8;

/** Windows of all candidates, of fresh reads and of the others, take turns in random order. */
export async function measureReloadLatencies(candidates: readonly Candidate[]): Promise<ReloadLatency[]> {
  const measured = candidates.map((candidate) => {
    let loads = 0;
    const load = async (): Promise<number> => {
      loads += 1;
      await sleep(LOAD_MS);
      return VALUE;
    };
    const fresh = subject(candidate, KEEP_MS / 2, async () => VALUE);
    const reloading = subject(candidate, candidate.leastPeriodMs ?? PERIOD_MS, load);
    return { name: candidate.name, fresh, reloading, loads: () => loads };
  });
  const subjects = measured.flatMap(({ fresh, reloading }) => [fresh, reloading]);
  await Promise.all(subjects.map(({ read }) => read()));
  for (const each of subjects) await window(each); // warm-up for the compiler
  for (const { histogram } of subjects) histogram.reset();
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of shuffled(subjects)) await window(each);
  }
  return measured.map(({ name, fresh, reloading, loads }) => ({
    name,
    fresh: latency(fresh),
    reloading: latency(reloading),
    loads: loads() - 1,
  }));
}

function subject({ open }: Candidate, periodMs: number, load: () => Promise<number>): Subject {
  return { ...open(load, periodMs), histogram: createHistogram() };
}

/** All readers read again and again, with a turn of the event loop in between. */
async function window({ read, histogram }: Subject): Promise<void> {
  const end = performance.now() + WINDOW_MS;
  const reader = async (): Promise<void> => {
    await turn(); // or the first reads of all readers would share one queue
    while (performance.now() < end) {
      const start = performance.now();
      const value = await read();
      const ms = performance.now() - start;
      if (value !== VALUE) throw new Error('a read returned a wrong value');
      histogram.record(Math.max(1, Math.round(ms * 1e6)));
      await turn();
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
}

function latency({ histogram }: Subject): Latency {
  return {
    reads: histogram.count,
    p50: histogram.percentile(50),
    p99: histogram.percentile(99),
    p999: histogram.percentile(99.9),
  };
}
