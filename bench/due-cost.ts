import { RefreshGroup } from '../dist/index.js';
import { HandClock } from './hand-clock.ts';
import { median, shuffled } from './turns.ts';

/** The cost of `requestStart()` with some due members, including their loads. */
export interface DueCost {
  readonly members: number;
  readonly due: number;
  /** Median nanoseconds per due member. */
  readonly ns: number;
  /** Median of the ratios of each round to the fewest due members. */
  readonly toFewest: number;
}

const NEVER_MS = 1e12;
const ROUNDS = 60;
const WARM_UP_ROUNDS = 10;
/** The least number of loads in a measurement: few due members are started several times. */
const LEAST_LOADS = 100;

/** All in one group, in turns. @param dues how many members are due at a time, the fewest first. */
export async function measureDueCosts(members: number, dues: readonly number[]): Promise<DueCost[]> {
  const start = bigGroup(members);
  const all = dues.map((due) => ({ due, rounds: [] as number[] }));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const { due, rounds } of shuffled(all)) {
      const times = Math.ceil(LEAST_LOADS / due);
      let ms = 0;
      for (let i = 0; i < times; i++) ms += await start(due);
      if (round >= 0) rounds.push((ms * 1e6) / (times * due));
    }
  }
  const fewest = all[0]?.rounds ?? [];
  return all.map(({ due, rounds }) => ({
    members,
    due,
    ns: median(rounds),
    toFewest: median(rounds.map((ns, i) => ns / (fewest[i] ?? Number.NaN))),
  }));
}

/** @returns a function that starts that many members, spread over the group, and returns the milliseconds it took. */
function bigGroup(members: number): (due: number) => Promise<number> {
  const group = new RefreshGroup({ clock: new HandClock(), timeout: Infinity });
  let loads = 0;
  const load = async (): Promise<number> => ++loads;
  const values = Array.from({ length: members }, (_, i) =>
    group.value({ name: `v${i}`, load, schedule: NEVER_MS + i }),
  );
  for (const value of values) value.set(0);
  return async (due) => {
    for (let i = 0; i < due; i++) values[i * (members / due)]?.invalidate();
    loads = 0;
    const start = performance.now();
    await new Promise<void>((resolve) =>
      group.requestStart({ waitUntil: (end) => end.then(() => resolve()) }),
    );
    const ms = performance.now() - start;
    if (loads !== due) throw new Error(`${loads} loads of ${due} members`);
    return ms;
  };
}
