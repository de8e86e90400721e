import { expect, it } from 'vitest';
import type { HereStatus } from '../../../src/console/rows.ts';
import { executionText, instancesText, levelText, stateText } from '../../../src/console/words.ts';
import { holderLabels, processLabel } from '../../../src/data/instance-label.ts';

const all: readonly [HereStatus, string][] = [
  [{ state: 'fresh' }, 'fresh'],
  [{ state: 'too-stale', running: true, failures: 5 }, 'too-stale, loading, 5 failures'],
  [{ state: 'done' }, 'not run yet'],
  [{ state: 'done', loadedAt: 1 }, 'done'],
  [{ state: 'empty' }, 'not read yet'],
  [{ state: 'empty', running: true }, 'loading'],
  [{ state: 'empty', failures: 1 }, 'no value, 1 failure'],
  [{ state: 'stale', pinned: { by: 'ann' }, paused: true, closed: true }, 'stale, pinned, paused, closed'],
  [{ state: 'keys', size: 100_000, loading: 3, failures: 2 }, '100,000 keys, 3 loading, 2 failing'],
];

it.each(all)('the state %j in words', (here, text) => {
  expect(stateText({ here })).toBe(text);
});

it('says how many instances are idle', () => {
  expect(instancesText([{}])).toBe('1 instance');
  expect(instancesText([{}, { isIdle: true }, {}])).toBe('3 instances, 1 of them idle or gone');
});

it.each([
  [{ outcome: 'loaded', attempts: 1 }, 'loaded'],
  [{ outcome: 'timed-out', attempts: 3 }, 'timed-out, 3 tries'],
  [{ outcome: 'failed', attempts: 0 }, 'failed before it began'],
  [{ outcome: 'adopted', attempts: 0 }, 'adopted'],
  [{ outcome: 'done' }, 'done'],
] as const)('the end of an execution %j in words', (execution, text) => {
  expect(executionText({ startedAt: 0, took: 0, ...execution })).toBe(text);
});

it.each([
  ['bad', 'read fails', 'reads fail'],
  ['warn', 'load fails', 'loads fail'],
  ['unshared', 'load is not shared', 'loads are not shared'],
  ['note', 'notice', 'notices'],
  ['ok', 'fine', 'fine'],
  ['of a later version', 'of a later version', 'of a later version'],
])('the level %s in words, of one member and of two', (level, one, two) => {
  expect([levelText(level, 1), levelText(level, 2)]).toEqual([one, two]);
});

it('names holders by their processes, one too', () => {
  const record = (owner: string) => ({ owner, host: 'vm' });
  expect([...holderLabels([record('7-a'), record('7-a')]).values()]).toEqual(['vm (7)']);
  expect([...holderLabels([record('7-a'), record('8-b'), record('7-a')]).values()]).toEqual([
    'vm (7)',
    'vm (8)',
  ]);
  expect(processLabel({ id: '7-a-b/2', host: 'vm' })).toBe('vm (7/2)');
});
