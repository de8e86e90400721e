import { describe, expect, it } from 'vitest';
import { BackendAccess } from '../../../src/cluster/backend-access.ts';
import { FakeClock } from '../../../src/testing/index.ts';

describe('a step that is of no use any longer when its turn comes', () => {
  it('is not run, and ends no outage', async () => {
    const clock = new FakeClock();
    const access = new BackendAccess({}, 1000);
    await access.ask(() => Promise.reject(new Error('down')), clock);
    await clock.advance(60_000);
    let runs = 0;
    const step = async (): Promise<void> => {
      runs += 1;
    };
    const asked = await access.ask(step, clock, { isWrite: true, isWanted: () => false });
    expect([asked.kind, runs, access.breaker.isTripped]).toEqual(['open', 0, true]);
    expect((await access.ask(step, clock, { isWrite: true, isWanted: () => true })).kind).toBe('answered');
    expect([runs, access.breaker.isTripped]).toEqual([1, false]);
  });

  it('lets the next one be the first to ask', async () => {
    const clock = new FakeClock();
    const access = new BackendAccess({}, 1000);
    let isWanted = true;
    const failing = access.ask(() => Promise.reject(new Error('down')), clock, { isWrite: true });
    const late = access.ask(async () => 'late', clock, { isWrite: true, isWanted: () => isWanted });
    const next = access.ask(async () => 'next', clock, { isWrite: true });
    isWanted = false;
    expect((await failing).kind).toBe('failed');
    expect(await late).toMatchObject({ kind: 'open', openFor: 0 });
    expect(await next).toEqual({ kind: 'answered', answer: 'next' });
  });
});
