import { type Candidate, KEEP_MS } from './candidates/candidate.ts';
import { awaitedLoop, syncLoop } from './loop.ts';
import { type Contestant, contestant, medianNs, ratioOf, takeTurns, VALUE } from './turns.ts';

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
  await takeTurns([...sync, ...awaited], { rounds: 400 });
  return { sync: figures(sync), awaited: figures(awaited) };
}

function figures(contestants: readonly Contestant[]): Figure[] {
  const [floor, tickless] = contestants as [Contestant, Contestant];
  return contestants.map((each) => ({
    name: each.name,
    ns: medianNs(each),
    toFloor: ratioOf(each, floor),
    toTickless: ratioOf(each, tickless),
  }));
}
