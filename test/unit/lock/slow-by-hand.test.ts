import { expect, it } from 'vitest';
import { FakeClock } from '../../../src/testing/index.ts';
import { lockOn } from '../../support/parts.ts';
import { recordsOfLock, type StepsOfLock } from '../../support/records-of-steps.ts';

/** A backend that takes steps one after the other, each in this time. */
function lockOf(clock: FakeClock, tookMs: number) {
  let last = Promise.resolve();
  const step = (): Promise<undefined> => {
    last = last.then(() => new Promise((resolve) => clock.setTimeout(resolve, tookMs)));
    return last.then(() => undefined);
  };
  const steps = { acquire: step, extend: step, release: step, find: step, list: step, forceRelease: step };
  const kind = { longestName: 20, options: [], clock };
  return lockOn(recordsOfLock(steps as unknown as StepsOfLock), { timeout: 1000 }, kind);
}

async function outcomesOf(
  steps: readonly Promise<unknown>[],
  clock: FakeClock,
  ms: number,
): Promise<string[]> {
  const outcomes = steps.map((step) =>
    step.then(
      () => 'answered',
      (error: Error) => error.message,
    ),
  );
  for (let passed = 0; passed < ms; passed += 50) await clock.advance(50);
  return Promise.all(outcomes);
}

it('a crowd that a slow backend answers one after the other is waited for: slow is not dead', async () => {
  const clock = new FakeClock();
  const lock = lockOf(clock, 200);
  const steps = Array.from({ length: 12 }, (_, i) => lock.inspect(`n${i}`));
  expect(await outcomesOf(steps, clock, 4000)).toEqual(Array(12).fill('answered'));
});

it('a backend that answers nothing is waited for no longer than the timeout', async () => {
  const clock = new FakeClock();
  const lock = lockOf(clock, Infinity);
  const [outcome] = await outcomesOf([lock.inspect('n')], clock, 1050);
  expect(outcome).toBe('n: the backend is unavailable: no answer within 1 s');
});
