import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  fixedDelay,
  fixedRate,
  httpFreshness,
  lockedTask,
  PeriodicExecutor,
  RefreshingCache,
  RefreshingValue,
  withJitter,
} from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { lockOf } from '../../support/parts.ts';

const clock = new FakeClock();
const value = (options: object): unknown =>
  new RefreshingValue({ name: 'v', load: () => 1, clock, ...options });
const cache = (options: object): unknown =>
  new RefreshingCache({ name: 'c', load: () => 1, clock, ...options });
const task = (options: object): unknown =>
  lockedTask(() => {}, { name: 't', lock: lockOf(memoryBackend()), clock, ...options });

/** Whatever takes a duration, by the name that its errors give. */
const TAKES: Record<string, (text: string) => unknown> = {
  schedule: (schedule) => value({ schedule }),
  timeout: (timeout) => value({ timeout }),
  coolDown: (coolDown) => value({ coolDown }),
  'coolDown.initial': (initial) => value({ coolDown: { initial, max: '1d' } }),
  maxStaleness: (maxStaleness) => value({ maxStaleness }),
  propagateWithin: (propagateWithin) => value({ propagateWithin, backend: memoryBackend() }),
  absentFor: (absentFor) => cache({ absentFor }),
  leaseFor: (leaseFor) => lockOf(memoryBackend({ leaseFor })),
  lockAtMostFor: (lockAtMostFor) => task({ lockAtMostFor }),
  lockAtLeastFor: (lockAtLeastFor) => task({ lockAtMostFor: '1d', lockAtLeastFor }),
  fallback: (fallback) => httpFreshness({ fallback }),
  'close timeout': (timeout) => new PeriodicExecutor(() => {}, { name: 'e', clock }).close({ timeout }),
  delay: (delay) => fixedDelay(delay),
  period: (period) => fixedRate(period),
  'a schedule with jitter': (jitter) => withJitter('1d', jitter),
};

describe('a duration as a text', () => {
  it.each(Object.entries(TAKES))(
    '%s takes it, and refuses one that is none with its name',
    (option, make) => {
      expect(() => make('1h30m')).not.toThrow();
      const name = option.split(' ').at(-1) as string;
      expect(() => make('90 parsecs')).toThrow(expect.objectContaining({ code: 'OPTION' }));
      expect(() => make('90 parsecs')).toThrow(new RegExp(`${name} must .*"90 parsecs"`));
    },
  );

  it('is what it says', async () => {
    const executor = new PeriodicExecutor(() => {}, { name: 'e', schedule: '1h30m', clock });
    await executor.execute();
    expect(executor.inspect().nextExecuteTime).toBe(clock.now() + 5_400_000);
  });
});
