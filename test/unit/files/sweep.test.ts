import { afterEach, expect, it, vi } from 'vitest';
import { Sweep, type Visited } from '../../../src/backends/files/sweep.ts';

const MINUTE = 60_000;

afterEach(() => {
  vi.restoreAllMocks();
});

/** A sweep over folders; what becomes of each is the beginning of its name. */
function sweepOf(folders: readonly string[], retentionMs = 7 * 24 * 60 * MINUTE) {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const visited: string[] = [];
  const visit = async (folder: string): Promise<Visited> => {
    visited.push(folder);
    return folder.replace(/\d+$/, '') as Visited;
  };
  let passes = 0;
  const list = async (): Promise<readonly string[]> => {
    passes += 1;
    return [...folders].reverse(); // visited from the end
  };
  const sweep = new Sweep(list, visit, retentionMs);
  const step = async (isBrief = false): Promise<string[]> => {
    sweep.step(isBrief);
    for (let i = 0; i < 200; i += 1) await null;
    return visited.splice(0);
  };
  return { step, passes: () => passes, pass: (ms: number) => (now += ms) };
}

const named = (what: Visited, count: number): string[] => Array.from({ length: count }, (_, i) => what + i);

it('one step visits two folders that are kept, and up to 50 in all', async () => {
  const { step } = sweepOf([...named('kept', 3), ...named('deleted', 60)]);
  expect(await step()).toEqual(['kept0', 'kept1']);
  expect(await step()).toEqual(['kept2', ...named('deleted', 49)]);
  expect(await step()).toHaveLength(11);
  expect(await step()).toEqual([]);
});

it.each<[string, readonly string[], boolean, number]>([
  ['an hour', ['kept0'], false, 60],
  ['ten minutes where a folder is brief', ['brief0'], false, 10],
  ['ten minutes where one was written that is', ['kept0'], true, 10],
])('a pass begins at most once in %s', async (_, folders, isBrief, minutes) => {
  const { step, passes, pass } = sweepOf(folders);
  await step();
  await step(isBrief);
  pass(minutes * MINUTE - 1);
  await step();
  expect(passes()).toBe(1);
  pass(1);
  await step();
  expect(passes()).toBe(2);
});

it('without a retention there is a pass for brief folders only', async () => {
  const { step, passes } = sweepOf(['brief0'], Infinity);
  await step();
  expect(passes()).toBe(0);
  expect(await step(true)).toEqual(['brief0']);
});
