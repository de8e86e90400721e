import { expect, it } from 'vitest';
import { KnownClock } from '../../../src/records/cells/known-clock.ts';

/** The clock of a server that is a second ahead of the machine's. */
function opened() {
  const machine = { now: 0 };
  const clock = new KnownClock(() => machine.now);
  const isWithin = (): boolean => {
    const { earliest, latest } = clock.span();
    return earliest <= machine.now + 1000 && machine.now + 1000 <= latest;
  };
  return { machine, clock, isWithin };
}

it('a clock of whole seconds is known by the second that an answer names, however long it was on its way', () => {
  const { machine, clock, isWithin } = opened();
  machine.now = 999;
  const time = { earliest: 1000, latest: 2000 }; // it was 1999
  machine.now = 1300;
  clock.learnTime(time, 998);
  expect(isWithin()).toBe(true);
  machine.now = 2999;
  clock.learnTime({ earliest: 3000, latest: 4000 }, 2000);
  expect(isWithin()).toBe(true);
});

it('the clocks of several servers are known by the earliest and the latest instant of an answer', () => {
  const { machine, clock, isWithin } = opened();
  machine.now = 400;
  clock.learnTime({ earliest: 1050, latest: 1100 }, 0);
  expect(isWithin()).toBe(true);
});

it('a late answer from before the clock was set does not undo the answers since', () => {
  const { machine, clock, isWithin } = opened();
  clock.learnTime(3_601_000.5, 0); // the clock is set back right after
  machine.now = 20;
  clock.learnTime(1015.5, 10);
  machine.now = 30;
  clock.learnTime(3_601_005.5, 5);
  expect(isWithin()).toBe(true);
  clock.learnTime(3_601_030.5, 30); // it was set again
  expect(isWithin()).toBe(false);
});
