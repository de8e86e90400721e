import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { lockConformance } from '../../../src/testing/index.ts';
import { lockOf } from '../../support/parts.ts';

describe.concurrent('the lock of memoryBackend', () => {
  const lock = lockOf(memoryBackend());
  for (const { name, run } of lockConformance({ lock: () => lock })) it(name, run);
});

it('the lock of memoryBackend needs no options', () => {
  expect(lockOf(memoryBackend(null as never)).leaseFor).toBe(30_000);
});

it('the lock of memoryBackend lists the first names of more than the limit', async () => {
  const lock = lockOf(memoryBackend());
  for (const name of ['c', 'b', 'a']) await lock.acquire({ name });
  expect((await lock.list({ limit: 2 })).map(({ name }) => name)).toEqual(['a', 'b']);
});
