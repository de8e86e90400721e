import { expect, it } from 'vitest';
import { FakeClock } from '../../../src/testing/index.ts';
import { setSharedTimeout } from '../../../src/time/shared-timer.ts';

/** Timers whose calls are noted with their time. */
function timers() {
  const clock = new FakeClock();
  const begin = clock.monotonic();
  const fired: string[] = [];
  const set = (name: string, delayMs: number, earlyByMs: number) =>
    setSharedTimeout(clock, () => fired.push(`${name} ${clock.monotonic() - begin}`), delayMs, earlyByMs);
  return { clock, fired, set };
}

it('calls within their time share the timer of the first one; others have one of their own', async () => {
  const { clock, fired, set } = timers();
  set('a', 100, 10);
  set('b', 105, 10);
  set('c', 110, 10);
  set('early', 99, 10);
  set('d', 105, 10);
  set('late', 111, 10);
  expect(clock.timerCount).toBe(3);
  await clock.advance(200);
  expect(fired).toEqual(['early 99', 'a 100', 'b 100', 'c 100', 'd 100', 'late 111']);
});

it('a timer is cancelled with its last call, and one that has fired takes no more calls', async () => {
  const { clock, fired, set } = timers();
  const [a, b] = [set('a', 100, 10), set('b', 100, 10)];
  a.cancel();
  a.cancel();
  expect(clock.timerCount).toBe(1);
  b.cancel();
  expect(clock.timerCount).toBe(0);
  set('c', 100, 10);
  await clock.advance(100);
  set('d', 0, 10);
  await clock.advance(0);
  expect(fired).toEqual(['c 100', 'd 100']);
});

it('a call may cancel another one of its timer', async () => {
  const { clock, fired, set } = timers();
  setSharedTimeout(clock, () => b.cancel(), 100, 0);
  const b = set('b', 100, 0);
  await clock.advance(100);
  expect(fired).toEqual([]);
});

it('it keeps the process alive while one of its calls does', () => {
  const log: string[] = [];
  const timer = { cancel: () => {}, ref: () => void log.push('ref'), unref: () => void log.push('unref') };
  const clock = { now: () => 0, monotonic: () => 0, setTimeout: () => timer };
  const [a, b] = [setSharedTimeout(clock, () => {}, 1, 1), setSharedTimeout(clock, () => {}, 1, 1)];
  a.ref();
  a.ref();
  b.ref();
  a.unref();
  expect(log).toEqual(['ref']);
  b.cancel();
  expect(log).toEqual(['ref', 'unref']);
});
