import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  hasRestarted,
  isComparable,
  isMoment,
  MachineClock,
  type Moment,
  passedSince,
} from '../../../src/backends/files/machine-clock.ts';

const HOUR = 3_600_000;
const THEN: Moment = { at: 1000, wall: 10 * HOUR, boot: 'b', clock: 'monotonic' };

function later(ms: number, changed: Partial<Moment> = {}): Moment {
  return { ...THEN, at: THEN.at + ms, wall: THEN.wall + ms, ...changed };
}

function unnamed(moment: Moment): Moment {
  return { ...moment, boot: null };
}

describe('MachineClock', () => {
  it('advances, and is the same for all processes of the machine', async () => {
    const before = new MachineClock().now();
    const script = 'console.log(Number(process.hrtime.bigint()) / 1e6)';
    const elsewhere = Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
    const after = new MachineClock().now();
    expect(before.clock).toBe('monotonic');
    expect(elsewhere).toBeGreaterThanOrEqual(before.at);
    expect(elsewhere).toBeLessThanOrEqual(after.at);
    expect(after.boot).toBe(before.boot);
    expect(isMoment(JSON.parse(JSON.stringify(after)))).toBe(true);
  });

  it('measures time', async () => {
    const clock = new MachineClock();
    const before = clock.now();
    await sleep(30);
    expect(passedSince(before, clock.now())).toBeGreaterThanOrEqual(29);
  });
});

const WALL: Moment = { ...THEN, clock: 'wall', at: THEN.wall };

describe('two moments', () => {
  it.each<[string, Moment, Moment, comparable: boolean, restarted: boolean, passed: number]>([
    ['some time apart', THEN, later(500), true, false, 500],
    ['around a step back', THEN, later(500, { wall: THEN.wall - HOUR }), true, false, 500],
    ['around a step forward', THEN, later(500, { wall: THEN.wall + HOUR }), true, false, 500],
    ['around a reboot, sooner after it', THEN, later(HOUR, { at: 20, boot: 'c' }), false, true, HOUR],
    ['around a reboot, later after it', THEN, later(HOUR, { at: 5000, boot: 'c' }), false, true, HOUR],
    [
      'around a reboot that set the clock back',
      THEN,
      later(-HOUR, { at: 20, boot: 'c' }),
      false,
      true,
      -HOUR,
    ],
    ['without boot ids', unnamed(THEN), unnamed(later(500)), true, false, 500],
    [
      'without boot ids, sooner after a reboot',
      unnamed(THEN),
      unnamed(later(HOUR, { at: 20 })),
      false,
      true,
      HOUR,
    ],
    // or around a step of the wall clock
    [
      'without boot ids, later after a reboot',
      unnamed(THEN),
      unnamed(later(HOUR, { at: 5000 })),
      true,
      false,
      HOUR,
    ],
    ['on two clocks', THEN, later(500, { at: 20, clock: 'uptime' }), false, false, 500],
    [
      'on the wall clock, around a step back',
      WALL,
      { ...WALL, at: WALL.at - HOUR, wall: WALL.wall - HOUR },
      true,
      false,
      -HOUR,
    ],
  ])('%s', (_, then, now, ...expected) => {
    expect([isComparable(then, now), hasRestarted(then, now), passedSince(then, now)]).toEqual(expected);
  });
});

describe('isMoment', () => {
  it.each<[string, object, boolean]>([
    ['a moment', THEN, true],
    ['with more', { ...THEN, more: 1 }, true],
    ['of a start without a name', unnamed(THEN), true],
    ['without a clock', { ...THEN, clock: undefined }, false],
    ['of an unknown clock', { ...THEN, clock: 'sun' }, false],
    ['of text', { ...THEN, at: '1000' }, false],
    ['of nothing', {}, false],
    ['of no number', { ...THEN, wall: Number.NaN }, false],
    ['of a start that is a number', { ...THEN, boot: 5 }, false],
  ])('%s', (_, data, expected) => {
    expect(isMoment(data)).toBe(expected);
  });
});
