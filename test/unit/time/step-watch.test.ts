import { expect, it } from 'vitest';
import { FakeClock } from '../../../src/testing/index.ts';
import { StepWatch } from '../../../src/time/step-watch.ts';

it('StepWatch finds a step once, and none where there was none, whenever it began', async () => {
  const clock = new FakeClock();
  await clock.advance({ hours: 5 });
  const watch = new StepWatch(clock);
  expect(watch.checkAt).toBe(clock.monotonic() + 60_000);
  await clock.advance({ minutes: 1 });
  expect(watch.hasStepped(clock.monotonic())).toBe(false);
  clock.stepWall({ seconds: -2 });
  expect([watch.hasStepped(clock.monotonic()), watch.hasStepped(clock.monotonic())]).toEqual([true, false]);
  expect(watch.checkAt).toBe(clock.monotonic() + 60_000);
});
