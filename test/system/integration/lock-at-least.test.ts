import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { lockedTask } from '../../../src/index.ts';
import { backends } from './support/backends.ts';
import { startProxy } from './support/proxy.ts';

const AT_LEAST_MS = 1000;

describe.each(backends.filter(({ engine }) => engine !== 'mariadb'))(
  'lockAtLeastFor with $name',
  (backend) => {
    it('counts from the start of the task, though the lock answers late', async () => {
      const server = inject(backend.engine);
      const proxy = await startProxy({ kind: backend.engine, url: server.url });
      const slow = await backend.connect(proxy.url);
      const fast = await backend.connect(server.url);
      try {
        const starts: { readonly of: string; readonly at: number }[] = [];
        const space = `at_least_${backends.indexOf(backend)}_${process.pid}`;
        const taskOf = (of: string, connected: typeof slow) =>
          lockedTask(() => void starts.push({ of, at: Date.now() }), {
            name: 'nightly',
            lock: connected.lock(space),
            lockAtMostFor: 20_000,
            lockAtLeastFor: AT_LEAST_MS,
          });
        const late = taskOf('late', slow);
        const early = taskOf('early', fast);
        await late.register(); // connects
        for (let round = 0; round < 3; round++) {
          proxy.latency(100 + 50 * round);
          const first = await late();
          expect(first.kind).toBe('executed');
          proxy.latency(0);
          while ((await early()).kind !== 'executed') await sleep(5);
          await sleep(AT_LEAST_MS + 50); // its own
        }
        const pauses = starts.flatMap(({ of, at }, index) =>
          of === 'early' ? [at - (starts[index - 1]?.at ?? Infinity)] : [],
        );
        expect(pauses).toHaveLength(3);
        expect(Math.min(...pauses)).toBeGreaterThanOrEqual(AT_LEAST_MS);
      } finally {
        slow.destroy();
        fast.destroy();
        await proxy.close();
      }
    });
  },
);
