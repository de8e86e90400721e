import type { Random } from '../random.ts';
import type { DataScenario } from './scenario.ts';

/** What a data world does on all instances at once. All times in milliseconds. */
export interface MarksScenario {
  /** Some of its instances have checks, and its operators do things everywhere. */
  readonly isMarked: boolean;
  readonly ordersEvery: number;
  /** The `propagateWithin` of the next instance; `Infinity`: no check comes within the time of a world. */
  drawWithin(random: Random): number;
}

export function drawMarksScenario(random: Random, { hasStore }: DataScenario): MarksScenario {
  const isMarked = random.chance(0.7) && hasStore;
  const withinMs = random.pick([100, 400, 1500]);
  return {
    isMarked,
    ordersEvery: random.pick([1500, 4000, 10_000]),
    drawWithin: (next) => (isMarked && next.chance(0.8) ? withinMs : Number.POSITIVE_INFINITY),
  };
}
