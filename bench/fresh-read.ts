import { type Candidate, KEEP_MS } from './candidates/candidate.ts';
import { awaitedLoop, syncLoop } from './loop.ts';
import { type Contestant, contestant, median, medianNs, ratioOf, takeTurns, VALUE } from './turns.ts';

/** The speed of one contestant. */
export interface Figure {
  readonly name: string;
  /** Median nanoseconds per read. */
  readonly ns: number;
  /** Median of the ratios of each round. */
  readonly toFloor: number;
  readonly toTickless: number;
}

/** One synchronous read in each microtask: no burst. */
export interface SingleReads {
  /** Median nanoseconds, without the microtask. */
  readonly floorNs: number;
  readonly ticklessNs: number;
  /** Median of the ratios of each round. */
  readonly toFloor: number;
}

/** Fresh reads: the floor first, tickless second. */
export interface FreshReads {
  /** Many reads in a run of synchronous code. */
  readonly sync: readonly Figure[];
  readonly awaited: readonly Figure[];
  readonly single: SingleReads;
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
  const [first] = opened;
  const single = [
    contestant(
      'a microtask',
      awaitedLoop(() => held.value),
    ),
    contestant(
      'floor: clock + field',
      awaitedLoop(() => (performance.now() >= 0 ? held.value : 0)),
    ),
    contestant(
      'tickless',
      awaitedLoop(() => first?.readNow?.()),
    ),
  ] as const;
  await takeTurns([...sync, ...awaited, ...single], { rounds: 400 });
  return { sync: figures(sync), awaited: figures(awaited), single: withoutMicrotask(...single) };
}

function withoutMicrotask(microtask: Contestant, floor: Contestant, tickless: Contestant): SingleReads {
  const net = (each: Contestant): number[] =>
    each.rounds.map((ns, round) => ns - (microtask.rounds[round] as number));
  const [floorNs, ticklessNs] = [net(floor), net(tickless)];
  const ratios = ticklessNs.map((ns, round) => ns / (floorNs[round] as number));
  return { floorNs: median(floorNs), ticklessNs: median(ticklessNs), toFloor: median(ratios) };
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
