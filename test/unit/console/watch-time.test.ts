import { afterEach, expect, it, vi } from 'vitest';
import { WatchTime } from '../../../src/console/watch-time.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Work that takes some milliseconds. */
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) vi.advanceTimersByTime(1);
}

it('work on each of many is done in short turns, in order', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setImmediate'] });
  const time = new WatchTime();
  let turn = 0;
  const turns = setInterval(() => {
    turn += 1;
  }, 0);
  const made = await time.each(
    Array.from({ length: 40 }, (_, at) => at),
    (at) => {
      busy(1);
      return { at, turn };
    },
  );
  clearInterval(turns);
  expect(made.map(({ at }) => at)).toEqual(Array.from({ length: 40 }, (_, at) => at));
  const ofTurn = (one: number): number => made.filter(({ turn: of }) => of === one).length;
  expect(Math.max(...made.map((one) => ofTurn(one.turn)))).toBeLessThanOrEqual(10);
});

it('after a burst it waits until what was done is a small share of the time', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const time = new WatchTime();
  let [spent, begun] = [0, performance.now()];
  time.turn(() => busy(40));
  expect(time.waitMs).toBe(0); // a small group is shown as it is
  time.turn(() => busy(40));
  expect(time.waitMs).toBeGreaterThan(0);
  for (let at = 0; at < 100; at++) {
    time.turn(() => busy(20));
    spent += 20;
    vi.advanceTimersByTime(Math.ceil(time.waitMs));
    if (at === 0) [spent, begun] = [0, performance.now()];
  }
  expect(spent / (performance.now() - begun)).toBeLessThan(0.1);
  vi.advanceTimersByTime(60_000);
  time.turn(() => busy(40));
  expect(time.waitMs).toBe(0);
});
