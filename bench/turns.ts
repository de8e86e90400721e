import type { Loop } from './loop.ts';

/** A measured loop, and its figures. */
export interface Contestant {
  readonly name: string;
  readonly loop: Loop;
  /** Reads per slice. */
  times: number;
  /** Nanoseconds per read, one figure per round. */
  readonly rounds: number[];
}

export interface TurnsOptions {
  readonly rounds: number;
  /** The duration of one slice. @default 2 ms */
  readonly sliceMs?: number;
  /** @default 60 */
  readonly warmUpSlices?: number;
}

/** The result of every read, so that a wrong read shows in the sum. */
export const VALUE = 1;

export function contestant(name: string, loop: Loop): Contestant {
  return { name, loop, times: 100, rounds: [] };
}

/** Measures all in one process, in rounds: each round gives every contestant one short slice, in random order. */
export async function takeTurns(
  contestants: readonly Contestant[],
  { rounds, sliceMs = 2, warmUpSlices = 60 }: TurnsOptions,
): Promise<void> {
  for (const each of contestants) await warmUp(each, sliceMs, warmUpSlices);
  for (let round = 0; round < rounds; round++) {
    for (const each of shuffled(contestants)) each.rounds.push(((await slice(each)) * 1e6) / each.times);
  }
}

/** Median nanoseconds per read. */
export function medianNs({ rounds }: Contestant): number {
  return median(rounds);
}

/** Median of the ratios of each round: other load on the machine slows both down alike. */
export function ratioOf(a: Contestant, b: Contestant): number {
  return median(a.rounds.map((ns, round) => ns / (b.rounds[round] as number)));
}

export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number;
}

/** Warms up the compiler, and finds how many reads fill a slice. */
async function warmUp(each: Contestant, sliceMs: number, slices: number): Promise<void> {
  for (let i = 0; i < slices; i++) {
    const ms = await slice(each);
    each.times = Math.max(1, Math.round((each.times * sliceMs) / Math.max(ms, 0.05)));
  }
}

/** @returns how long it took, in milliseconds. */
async function slice({ name, loop, times }: Contestant): Promise<number> {
  const start = performance.now();
  const sum = await loop(times);
  const ms = performance.now() - start;
  if (sum !== times * VALUE) throw new Error(`${name} returned a wrong value`);
  return ms;
}
