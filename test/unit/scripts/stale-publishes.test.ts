import { expect, it } from 'vitest';
import { stalePublishesOf } from '../../system/integration/faults/stale-publishes.ts';

type Heard = Parameters<typeof stalePublishesOf>[0][number];

/** A write, or a read that has found that version, from its question to when its answer was told. */
function step(kind: 'write' | 'read', token: number, begunAt: number, at: number, more: object = {}): Heard {
  const answer = kind === 'write' ? 'written' : 'found';
  return { kind: 'step', step: kind, name: 'rates', token, answer, begunAt, at, took: 1, by: token, ...more };
}

it('counts a version that was taken after a newer one, however often it is seen', () => {
  const heard = [step('write', 2, 100, 110), step('write', 1, 111, 120), step('read', 1, 130, 140)];
  expect(stalePublishesOf(heard)).toEqual(['instance 1: write 1, 1.0 ms after 2 was there']);
});

it('counts a version that is found after a newer one was there, though no answer to its write was heard', () => {
  const heard = [step('write', 2, 100, 110), step('read', 1, 150, 160, { by: 3 })];
  expect(stalePublishesOf(heard)).toEqual(['instance 3: read 1, 40.0 ms after 2 was there']);
});

it.each([
  ['what an instance that stood still tells late', [step('write', 2, 100, 110), step('write', 1, 90, 4000)]],
  ['a newer one that is told late', [step('write', 2, 100, 200), step('write', 1, 150, 160)]],
  ['a refusal', [step('write', 2, 100, 110), step('write', 1, 120, 130, { answer: 'refused' })]],
  ['another name', [step('write', 2, 100, 110), step('write', 1, 120, 130, { name: 'codes' })]],
  [
    'a newer one that was not taken',
    [step('write', 2, 100, 110, { answer: 'no answer' }), step('write', 1, 120, 130)],
  ],
  ['a write without a token', [step('write', 2, 100, 110), step('write', 1, 120, 130, { token: undefined })]],
  ['the same one again, after its answer was lost', [step('write', 2, 100, 110), step('write', 2, 120, 130)]],
  ['an older one that was found before', [step('write', 2, 100, 110), step('read', 1, 90, 120)]],
])('does not count %s', (_, heard) => {
  expect(stalePublishesOf(heard)).toEqual([]);
});
