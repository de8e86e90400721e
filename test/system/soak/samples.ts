/** What was seen at one moment of a soak. */
export interface Sample {
  /** Bytes of the heap that are in use after a forced collection. */
  readonly heap: number;
  /** How many objects of each kind are still there: they may come and go, but not become more and more. */
  readonly live: Readonly<Record<string, number>>;
  /** What has happened since the start, counted. */
  readonly done: Readonly<Record<string, number>>;
}

/** A quarter of a soak: medians of what was live, sums of what was done. */
export type Quarter = Sample;

/** So many are taken in a soak, at equal distances. */
export const SAMPLES = 48;

/** The beginning of a soak is no part of its quarters: until caches are full and code is compiled, a heap grows. */
const WARM_UP = 0.2;

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/**
 * The four quarters of what comes after the warm-up.
 *
 * @throws {RangeError} where there are too few samples for that.
 */
export function quartersOf(samples: readonly Sample[]): Quarter[] {
  const first = Math.max(1, Math.ceil(samples.length * WARM_UP)); // each quarter counts from the sample before it
  const length = (samples.length - first) / 4;
  if (length < 1) throw new RangeError(`${samples.length} samples make no quarters`);
  return [0, 1, 2, 3].map((index) => {
    const begin = first + Math.round(index * length);
    const own = samples.slice(begin, first + Math.round((index + 1) * length));
    const { done: before } = samples[begin - 1] as Sample;
    const { live, done } = own.at(-1) as Sample;
    return {
      heap: median(own.map(({ heap }) => heap)),
      live: mapped(live, (_, kind) => median(own.map((sample) => sample.live[kind] ?? 0))),
      done: mapped(done, (count, what) => count - (before[what] ?? 0)),
    };
  });
}

function mapped(
  record: Readonly<Record<string, number>>,
  map: (value: number, name: string) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
