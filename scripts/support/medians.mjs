// Medians over processes, for a figure that a busy machine distorts and that differs from one process to the next.

import { setTimeout as sleep } from 'node:timers/promises';

const FIRST = 3;
const MORE = 2;
const MOST = 9;
/** A minute in which the machine is busy is over before the last of them. */
const PAUSE_MS = 30_000;

/** @param {readonly number[]} numbers */
export const medianOf = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/**
 * The median of each figure over three processes. While one misses its bound, over two more after a pause, up to nine in all.
 *
 * @param {() => readonly number[]} measure the figures of one more process, always in the same order
 * @param {readonly number[]} bounds the most that each may be
 * @param {(ms: number) => Promise<unknown>} [pause]
 * @returns {Promise<{ figures: number[], processes: number }>}
 */
export async function medians(measure, bounds, pause = sleep) {
  const processes = Array.from({ length: FIRST }, measure);
  for (;;) {
    const figures = bounds.map((_, at) => medianOf(processes.map((one) => one[at])));
    const isGood = figures.every((figure, at) => figure <= bounds[at]);
    if (isGood || processes.length >= MOST) return { figures, processes: processes.length };
    await pause(PAUSE_MS);
    for (let more = 0; more < MORE; more++) processes.push(measure());
  }
}
