import { describe, expect, it } from 'vitest';
import { type Ended, reportOf, runFixture } from './child.ts';
import type { BeforeExitReport } from './fixtures/before-exit.ts';
import type { Report } from './fixtures/live-timers.ts';

/** Less than every timer that the process must not wait for: the controls’ 6 s, a retry pause of 20 s. */
const PROMPTLY_MS = 5000;

async function scenario(name: string): Promise<{ ended: Ended; report: Report }> {
  const ended = await runFixture('exit', { args: [name] });
  return { ended, report: reportOf<Report>(ended) };
}

function expectPromptEnd({ code, signal, stderr, lingered }: Ended, logged: string | RegExp = ''): void {
  const expected = typeof logged === 'string' ? logged : expect.stringMatching(logged);
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: expected });
  expect(lingered).toBeLessThan(PROMPTLY_MS);
}

describe.concurrent('the measurement can fail', () => {
  it('a timer that is left behind shows, and keeps the process alive', async () => {
    const { ended, report } = await scenario('control: a timer that is left behind');
    expect(report.resources).toContain('Timeout');
    expect(report.liveTimers).toBe(1);
    expect(ended.lingered).toBeGreaterThan(PROMPTLY_MS);
  });

  it('an unref’d timer that is left behind shows in the count of timers', async () => {
    const { ended, report } = await scenario('control: an unref’d timer that is left behind');
    expect(report.liveTimers).toBe(1);
    expectPromptEnd(ended);
  });
});

describe.concurrent('the process ends by itself right after the last read, and there is no timer', () => {
  it.each<[string, object, RegExp?]>([
    ['a value that was loaded', { value: 1 }],
    ['a value that was loaded synchronously', { value: 1 }],
    ['a value that has just reloaded in the background', { loads: 2 }],
    [
      'a cold failure in its cool-down',
      { errors: ['LOAD_FAILED', 'COOLING_DOWN'] },
      /^tickless: v: reads are refused, there is no value; load failed .+\n$/,
    ],
    ['a failed reload in its cool-down', { served: 'first', loads: 2, failures: 1 }],
    ['a thousand idle values', { sum: 499_500 }],
    ['bursts of keyed reads in a group', { keys: 1000 }],
    ['an executor whose task has run', { executions: 1 }],
  ])('%s', async (name, details, logged) => {
    const { ended, report } = await scenario(name);
    expectPromptEnd(ended, logged);
    expect(report).toMatchObject(details);
    expect(report.resources).not.toContain('Timeout');
    expect(report.resources).not.toContain('Immediate');
    expect(report.liveTimers).toBe(0);
  });
});

describe.concurrent('a running execution without waiting callers does not keep the process alive', () => {
  it.each([
    ['a background reload that never settles', { served: 'first', loads: 2, running: true }],
    ['a background reload in a retry pause', { loads: 2, running: true }],
    ['a due synchronous reload that was not begun', { value: 1, running: true }],
    ['a reader that gave up waiting', { error: 'enough', running: true }],
  ])('%s', async (name, details) => {
    const { ended, report } = await scenario(name);
    expectPromptEnd(ended);
    expect(report).toMatchObject(details);
    expect(report.resources).not.toContain('Timeout');
  });
});

describe.concurrent('while a caller waits the process stays alive until the call settles', () => {
  // Otherwise Node would end with code 13, "unsettled top-level await", and no report.
  it.each<[string, object, (string | RegExp)?]>([
    [
      'waits: a cold load that hangs on nothing',
      { error: 'TIMED_OUT' },
      /^tickless: v: reads are refused, there is no value; load timed out .+\n$/,
    ],
    ['waits: a cold load between two tries', { value: 'up', loads: 2 }],
    ['waits: a read with patience', { served: 'first', loads: 2 }],
    ['waits: a forced reload that joins one behind a read', { error: 'TIMED_OUT', loads: 2 }],
    [
      'waits: close while a reload hangs',
      { running: false },
      'tickless: v: closed after 300 ms: aborted 1 load (v)\n',
    ],
  ])('%s', async (name, details, logged) => {
    const { ended, report } = await scenario(name);
    expectPromptEnd(ended, logged);
    expect(report).toMatchObject(details);
    expect(report.resources).not.toContain('Timeout');
  });
});

it('reads in beforeExit do not keep the process from ending', async () => {
  const ended = await runFixture('before-exit');
  expectPromptEnd(ended);
  expect(reportOf<BeforeExitReport>(ended).emitted).toBeLessThanOrEqual(2);
});
