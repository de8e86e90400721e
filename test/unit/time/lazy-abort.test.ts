import { expect, it } from 'vitest';
import { LazyAbort } from '../../../src/time/lazy-abort.ts';

it('makes one signal, at the first look', () => {
  const abort = new LazyAbort();
  const { signal } = abort;
  expect(abort.signal).toBe(signal);
  const reason = new Error('over');
  abort.abort(reason);
  abort.abort(new Error('later'));
  expect([signal.aborted, signal.reason, abort.isAborted, abort.reason]).toEqual([
    true,
    reason,
    true,
    reason,
  ]);
});

it('gives an aborted signal to a first look after the abort', () => {
  const abort = new LazyAbort();
  const reason = new Error('over');
  abort.abort(reason);
  expect([abort.signal.aborted, abort.signal.reason]).toEqual([true, reason]);
});
