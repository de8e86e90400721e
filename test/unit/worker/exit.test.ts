import { describe, expect, it } from 'vitest';
import { type Ended, reportOf, runFixture } from '../../system/processes/child.ts';
import type { Report } from '../../system/processes/fixtures/live-timers.ts';

/** Less than the deadline of 30 s; far more than a busy machine takes. */
const PROMPTLY_MS = 20_000;

async function run(name: string): Promise<Ended> {
  const ended = await runFixture('../../../unit/worker/fixtures/exit', { args: [name] });
  expect(ended).toMatchObject({ code: 0, signal: null });
  return ended;
}

describe('a process with loads in threads', () => {
  it.each([
    ['a value that was loaded', { length: 50_000 }],
    [
      'a load that failed',
      { message: 'v: load failed: the thread exited with code 7 before the load had settled' },
    ],
    ['waits: a load without a deadline', { value: 'late' }],
    ['waits: an abort', { reason: 'enough' }],
  ])('has nothing left, and ends by itself: %s', async (name, details) => {
    const ended = await run(name);
    const report = reportOf<Report>(ended);
    expect(report).toMatchObject({ ...details, liveTimers: 0 });
    expect(report.resources).not.toContain('MessagePort');
    expect(report.resources).not.toContain('Timeout');
    expect(ended.lingered).toBeLessThan(PROMPTLY_MS);
    expect(ended.stderr).toMatch(
      name === 'a load that failed' ? /^tickless: v: reads are refused, .+\n$/ : /^$/,
    );
  });

  it.each(['a background load that hangs', 'a background load that is busy'])(
    'is not kept by %s',
    async (name) => {
      const ended = await run(name);
      expect(reportOf<Report>(ended)).toMatchObject({ served: 'first' });
      expect(ended.lingered).toBeLessThan(PROMPTLY_MS);
    },
  );

  it('prints all that a load has printed', async () => {
    const { stdout, stderr } = await run('prints, and answers or throws');
    const lines = (word: string): string[] => Array.from({ length: 500 }, (_, i) => `${word} ${i}`);
    expect(stdout.trim().split('\n')).toEqual([...lines('line'), ...lines('line'), 'done']);
    expect(stderr.trim().split('\n')).toEqual([...lines('error'), ...lines('error')]);
  });
});
