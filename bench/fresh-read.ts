import { type Candidate, KEEP_MS } from './candidates/candidate.ts';
import { awaitedLoop, type Loop, syncLoop } from './loop.ts';

/** What is measured: a loop, and what it found. */
interface Contestant {
  readonly name: string;
  readonly loop: Loop;
  /** Reads per slice. */
  times: number;
  /** Nanoseconds per read, one figure per round. */
  readonly rounds: number[];
}

/** The speed of one contestant. */
export interface Figure {
  readonly name: string;
  /** Median nanoseconds per read. */
  readonly ns: number;
  /** Median of the ratios of each round. */
  readonly toFloor: number;
  readonly toTickless: number;
}

/** Fresh reads: the floor first, tickless second. */
export interface FreshReads {
  readonly sync: readonly Figure[];
  readonly awaited: readonly Figure[];
}

const VALUE = 1;
const ROUNDS = 400;
const SLICE_MS = 2;
const WARM_UP_SLICES = 60;

/** Measures all in one process, in rounds: each round gives every contestant one short slice, in random order. */
export async function measureFreshReads(candidates: readonly Candidate[]): Promise<FreshReads> {
  const opened = candidates.map(({ name, open }) => ({ name, ...open(async () => VALUE, KEEP_MS / 2) }));
  for (const { read } of opened) await read();
  const held = { value: VALUE, promise: Promise.resolve(VALUE) };
  const sync = [
    contestant(
      'floor: clock + field',
      syncLoop(() => (performance.now() >= 0 ? held.value : 0)),
    ),
    ...opened.flatMap(({ name, readNow }) => (readNow ? [contestant(name, syncLoop(readNow))] : [])),
  ];
  const awaited = [
    contestant(
      'floor: resolved promise',
      awaitedLoop(() => held.promise),
    ),
    ...opened.map(({ name, read }) => contestant(name, awaitedLoop(read))),
    contestant(
      'clock + resolved promise',
      awaitedLoop(() => (performance.now() >= 0 ? held.promise : 0)),
    ),
  ];
  const all = [...sync, ...awaited];
  for (const each of all) await warmUp(each);
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of shuffled(all)) each.rounds.push(((await slice(each)) * 1e6) / each.times);
  }
  return { sync: figures(sync), awaited: figures(awaited) };
}

function contestant(name: string, loop: Loop): Contestant {
  return { name, loop, times: 100, rounds: [] };
}

/** Lets the compiler do its work, and finds how many reads fill a slice. */
async function warmUp(each: Contestant): Promise<void> {
  for (let i = 0; i < WARM_UP_SLICES; i++) {
    const ms = await slice(each);
    each.times = Math.max(100, Math.round((each.times * SLICE_MS) / Math.max(ms, 0.05)));
  }
}

/** @returns how long it took, in milliseconds. */
async function slice({ name, loop, times }: Contestant): Promise<number> {
  const start = performance.now();
  const sum = await loop(times);
  const ms = performance.now() - start;
  if (sum !== times * VALUE) throw new Error(`${name} read something else than the value`);
  return ms;
}

function figures(contestants: readonly Contestant[]): Figure[] {
  const [floor, tickless] = contestants as [Contestant, Contestant];
  const ratio = (a: Contestant, b: Contestant): number =>
    median(a.rounds.map((ns, round) => ns / (b.rounds[round] as number)));
  return contestants.map((each) => ({
    name: each.name,
    ns: median(each.rounds),
    toFloor: ratio(each, floor),
    toTickless: ratio(each, tickless),
  }));
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number;
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
