/** The measurements of one moment of a soak. */
export interface Sample {
  /** Used bytes of the heap after a forced collection. */
  readonly heap: number;
  /** The number of live objects of each kind, which may vary but must not grow. */
  readonly live: Readonly<Record<string, number>>;
  /** The counts of events since the start. */
  readonly done: Readonly<Record<string, number>>;
}

/** A quarter of a soak: medians of the live objects, sums of the events. */
export type Quarter = Sample;

/** The number of samples of a soak, at equal distances. */
export const SAMPLES = 48;

/** The quarters exclude the beginning of a soak: a heap grows until caches are full and code is compiled. */
const WARM_UP = 0.2;

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/**
 * The four quarters after the warm-up.
 *
 * @throws {RangeError} if there are too few samples.
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
