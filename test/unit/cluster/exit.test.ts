import { describe, expect, it } from 'vitest';
import { type Ended, reportOf, runFixture } from '../../system/processes/child.ts';
import type { Report } from '../../system/processes/fixtures/live-timers.ts';

/** Less than the lease of 20 s and the 15 s that an answer is awaited; far more than a busy machine takes. */
const PROMPTLY_MS = 12_000;

async function scenario(name: string): Promise<{ ended: Ended; report: Report }> {
  const ended = await runFixture('../../../unit/cluster/fixtures/exit', { args: [name] });
  expect({ code: ended.code, signal: ended.signal }).toEqual({ code: 0, signal: null });
  expect(ended.lingered).toBeLessThan(PROMPTLY_MS);
  return { ended, report: reportOf<Report>(ended) };
}

describe.concurrent('a process in a cluster ends by itself', () => {
  it('after rounds there is no timer at all', async () => {
    const { ended, report } = await scenario('a value, a cache and tasks after their rounds');
    expect(report).toMatchObject({ value: 1, liveTimers: 0 });
    expect(report.resources).not.toContain('Timeout');
    expect(ended.stderr).toBe('');
  });

  it.each([
    ['a background round that waits for a lease of somebody else', { value: 0 }],
    ['a background load that holds its lease and never ends', { value: 0, isHolder: true }],
    ['a release that fails', { value: 1 }],
    ['an engine that never answers a write', { value: 1 }],
  ])('%s does not keep it', async (name, details) => {
    const { report } = await scenario(name);
    expect(report).toMatchObject(details);
    expect(report.resources).not.toContain('Timeout');
  });
});
