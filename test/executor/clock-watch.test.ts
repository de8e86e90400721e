import { describe, expect, it } from 'vitest';
import { ClockWatch } from '../../src/executor/clock-watch.ts';
import { FakeClock } from '../../src/testing/index.ts';

describe('ClockWatch', () => {
  it('finds a step once, and none where there was none, whenever it began', async () => {
    const clock = new FakeClock();
    await clock.advance({ hours: 5 });
    const watch = new ClockWatch(clock);
    expect(watch.lookAt).toBe(clock.monotonic() + 60_000);
    await clock.advance({ minutes: 1 });
    expect(watch.look(clock.monotonic())).toBe(false);
    clock.stepWall({ seconds: -2 });
    expect([watch.look(clock.monotonic()), watch.look(clock.monotonic())]).toEqual([true, false]);
    expect(watch.lookAt).toBe(clock.monotonic() + 60_000);
  });
});
