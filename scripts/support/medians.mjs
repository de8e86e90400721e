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
 * @template {{ readonly figure: number, readonly most: number }} T
 * @param {() => readonly T[]} measure the figures of one more process with their bounds, always in the same order
 * @param {(ms: number) => Promise<unknown>} [pause]
 * @returns {Promise<T[]>} as the first process has them, with the medians
 */
export async function medians(measure, pause = sleep) {
  const processes = Array.from({ length: FIRST }, measure);
  for (;;) {
    const all = processes[0].map((one, at) => ({
      ...one,
      figure: medianOf(processes.map((figures) => figures[at].figure)),
    }));
    if (processes.length >= MOST || all.every(({ figure, most }) => figure <= most)) return all;
    await pause(PAUSE_MS);
    for (let more = 0; more < MORE; more++) processes.push(measure());
  }
}
