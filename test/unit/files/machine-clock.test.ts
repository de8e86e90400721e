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
} from '../../../src/files/machine-clock.ts';

const HOUR = 3_600_000;
const THEN: Moment = { at: 1000, wall: 10 * HOUR, boot: 'b', clock: 'monotonic' };

function later(ms: number, changed: Partial<Moment> = {}): Moment {
  return { ...THEN, at: THEN.at + ms, wall: THEN.wall + ms, ...changed };
}

function unnamed(moment: Moment): Moment {
  return { ...moment, boot: null };
}

describe('MachineClock', () => {
  it('goes on, and is the same for all processes of the machine', async () => {
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

describe.each<[string, Moment, Moment, { comparable: boolean; restarted: boolean; passed: number }]>([
  ['a while later', THEN, later(500), { comparable: true, restarted: false, passed: 500 }],
  [
    'the wall clock was set back',
    THEN,
    later(500, { wall: THEN.wall - HOUR }),
    { comparable: true, restarted: false, passed: 500 },
  ],
  [
    'the wall clock was set forward',
    THEN,
    later(500, { wall: THEN.wall + HOUR }),
    { comparable: true, restarted: false, passed: 500 },
  ],
  [
    'after a restart, sooner after it than then',
    THEN,
    later(HOUR, { at: 20, boot: 'c' }),
    { comparable: false, restarted: true, passed: HOUR },
  ],
  [
    'after a restart, longer after it than then',
    THEN,
    later(HOUR, { at: 5000, boot: 'c' }),
    { comparable: false, restarted: true, passed: HOUR },
  ],
  [
    'after a restart with a wall clock that lags',
    THEN,
    later(0, { at: 20, boot: 'c', wall: THEN.wall - HOUR }),
    { comparable: false, restarted: true, passed: 0 },
  ],
  [
    'where starts have no name',
    unnamed(THEN),
    unnamed(later(500)),
    { comparable: true, restarted: false, passed: 500 },
  ],
  [
    'where starts have no name, sooner after a restart',
    unnamed(THEN),
    unnamed(later(HOUR, { at: 20 })),
    { comparable: false, restarted: true, passed: HOUR },
  ],
  [
    'where starts have no name, longer after a restart (or the wall clock was stepped)',
    unnamed(THEN),
    unnamed(later(HOUR, { at: 5000 })),
    { comparable: true, restarted: false, passed: HOUR },
  ],
  [
    'by another clock',
    THEN,
    later(500, { at: 20, clock: 'uptime' }),
    { comparable: false, restarted: false, passed: 500 },
  ],
  [
    'by the wall clock, which was set back',
    { ...THEN, clock: 'wall', at: THEN.wall },
    later(0, { clock: 'wall', at: THEN.wall - HOUR, wall: THEN.wall - HOUR }),
    { comparable: true, restarted: false, passed: 0 },
  ],
])('%s', (_, then, now, expected) => {
  it('is seen', () => {
    expect({
      comparable: isComparable(then, now),
      restarted: hasRestarted(then, now),
      passed: passedSince(then, now),
    }).toEqual(expected);
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
