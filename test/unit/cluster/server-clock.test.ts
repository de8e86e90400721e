import { expect, it } from 'vitest';
import { ServerClock } from '../../../src/cluster/server-clock.ts';

/** A machine whose clocks are set by hand. */
function machine(): {
  wall: number;
  mono: number;
  now(): number;
  monotonic(): number;
  setTimeout(): never;
} {
  return {
    wall: 1_000_000,
    mono: 0,
    now() {
      return this.wall;
    },
    monotonic() {
      return this.mono;
    },
    setTimeout() {
      throw new Error('no timers here');
    },
  };
}

it('is that of the machine before anything is learnt, and that of the engine after', () => {
  const base = machine();
  const clock = new ServerClock(base);
  expect(clock.now()).toBe(1_000_000);
  base.mono = 20;
  clock.learn(9_000_000, 0); // asked at 0, answered at 20: it was said in the middle of that
  expect(clock.now()).toBe(9_000_010);
  base.mono += 500;
  base.wall += 500;
  expect(clock.now()).toBe(9_000_510);
});

it('notices that the machine has slept: its monotonic clock stood still', () => {
  const base = machine();
  const clock = new ServerClock(base);
  clock.learn(9_000_000, 0);
  base.wall += 3_600_000;
  expect(clock.now()).toBe(12_600_000);
  clock.learn(9_000_100, 0); // no, its wall clock was stepped
  expect(clock.now()).toBe(9_000_100);
});

it('learns nothing of an answer that took long, nor of one that is no number', () => {
  const base = machine();
  const clock = new ServerClock(base);
  clock.learn(9_000_000, 0);
  base.mono = 5000;
  base.wall += 5000;
  clock.learn(1, 0);
  for (const noDate of [Number.NaN, 1e300, -8.65e15]) clock.learn(noDate, 4999);
  expect(clock.now()).toBe(9_005_000);
});
