import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/time/clock.ts';

describe('systemClock.setTimeout', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('waits longer than the 24.8 days that the platform can', () => {
    let fired = 0;
    systemClock.setTimeout(() => {
      fired += 1;
    }, 100 * 86_400_000);
    vi.advanceTimersByTime(100 * 86_400_000 - 1);
    expect(fired).toBe(0);
    vi.advanceTimersByTime(1);
    expect(fired).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('can be cancelled in any stretch of it', () => {
    const timer = systemClock.setTimeout(() => expect.unreachable(), 100 * 86_400_000);
    vi.advanceTimersByTime(60 * 86_400_000);
    timer.cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(60 * 86_400_000);
  });
});

it('a timer holds the process only after ref, over all its stretches', () => {
  const held = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = held();
  const timer = systemClock.setTimeout(() => {}, 100 * 86_400_000);
  expect(held()).toBe(before);
  timer.ref();
  expect(held()).toBe(before + 1);
  timer.unref();
  expect(held()).toBe(before);
  timer.cancel();
});

it('reads both clocks of the machine', () => {
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(60_000);
  const first = systemClock.monotonic();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
});
