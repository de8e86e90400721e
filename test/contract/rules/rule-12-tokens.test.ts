import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { warmOne, warmPair } from '../../support/cluster.ts';
import { isOutcome, wordsOf } from '../../support/events.ts';
import { lockOf } from '../../support/parts.ts';

const DONE = { as: 'done', holdFor: 0 } as const;

/** Acquires a name that is free, and answers with the lease. */
async function leaseOf(lock: Lock, force = false) {
  const answer = await lock.acquire({ name: 'v', force });
  if (answer.kind !== 'acquired') throw new Error(`it is ${answer.kind}`);
  return answer.lease;
}

describe('rule 12: tokens grow strictly per name', () => {
  it('over release, failure, crash, an operator, and a clock that steps back', async () => {
    const clock = new FakeClock();
    const lock = lockOf(memoryBackend({ clock, leaseFor: 3000 }));
    const tokens: number[] = [];
    const next = async (): Promise<Parameters<typeof lock.release>[0]> => {
      const lease = await leaseOf(lock);
      tokens.push(lease.token);
      return lease;
    };
    await lock.release(await next(), DONE);
    await lock.release(await next(), { as: 'failed', holdFor: 0 });
    await lock.release(await next(), { as: 'abandoned' });
    await next();
    await clock.advance(3000); // it crashed
    const lease = await next();
    await lock.forceRelease('v', lease.token);
    await lock.release(await next(), DONE);
    clock.stepWall({ hours: -1 });
    await lock.release(await next(), DONE);
    await lock.release(await next(), DONE);
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    expect(tokens.every(Number.isSafeInteger)).toBe(true);
    expect(tokens).toHaveLength(8);
  });

  it('over a backend that restarts empty, because its clock is in them', async () => {
    const clock = new FakeClock();
    const before = await leaseOf(lockOf(memoryBackend({ clock })));
    await clock.advance(1);
    const after = await leaseOf(lockOf(memoryBackend({ clock })));
    expect(before.token).toBe((clock.now() - 1) * 1000);
    expect(after.token).toBeGreaterThan(before.token);
  });

  it('each load gets its token, and its snapshot bears it as version', async () => {
    const { cluster, a } = await warmOne();
    const { value, manual } = a!;
    const tokens = [manual.call(0).context.token];
    for (const index of [1, 2]) {
      const refreshed = value.refresh();
      await cluster.clock.flush();
      manual.call(index).resolve(`${index}`);
      await refreshed;
      await cluster.clock.flush();
      tokens.push(manual.call(index).context.token);
      expect((await cluster.store.read('v'))?.version).toBe(tokens.at(-1));
    }
    expect(tokens[1]).toBeGreaterThan(tokens[0] as number);
    expect(tokens[2]).toBeGreaterThan(tokens[1] as number);
  });

  it('a store refuses an older token; that is emitted, and the newer snapshot is adopted at the next read', async () => {
    const { cluster, a, b } = await warmPair();
    await cluster.readAfter(1025, a);
    const { token } = a.manual.call(1).context;
    // The lease of a is ended, and b has loaded before a learns of it.
    await cluster.lock.forceRelease('v', token as number);
    await cluster.refresh(b, 0, 'of b');
    await cluster.end(a, 1, 'of a');
    const version = b.manual.call(0).context.token;
    expect(a.events.find(isOutcome('publish-refused'))).toMatchObject({ token, version });
    expect((await cluster.store.read('v'))?.version).toBe(version);
    expect(wordsOf(a.events)).not.toContain('published');
    await cluster.read(a);
    expect(a.value.peek()).toBe('of b');
  });
});
