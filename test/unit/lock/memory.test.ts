import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { backendLockConformance } from '../../support/lock-conformance/index.ts';
import { lockOf } from '../../support/parts.ts';

describe.concurrent('the lock of memoryBackend', () => {
  const lock = lockOf(memoryBackend());
  for (const { name, run } of backendLockConformance({ lock: () => lock })) it(name, run);
});

it('the lock of memoryBackend needs no options', () => {
  expect(lockOf(memoryBackend(null as never)).leaseFor).toBe(30_000);
});
