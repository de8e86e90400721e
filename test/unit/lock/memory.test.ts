import { describe, expect, it } from 'vitest';
import { memoryLock } from '../../../src/lock/memory.ts';
import { lockConformance } from '../../../src/testing/index.ts';

describe.concurrent('memoryLock', () => {
  const lock = memoryLock();
  for (const { name, run } of lockConformance({ lock: () => lock })) it(name, run);
});

it('memoryLock takes no options at all', () => {
  expect(memoryLock(null as never).leaseFor).toBe(30_000);
});
