import { describe, expect, it } from 'vitest';
import type { ExecutionStart } from '../../../src/data/execution-record.ts';
import type { CoolingDown } from '../../../src/engine/cool-down.ts';
import { Entry } from '../../../src/engine/entry.ts';
import { LoadReporter } from '../../../src/engine/load-reporter.ts';
import { TicklessError } from '../../../src/errors.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { optionsOfTask, optionsOfValue } from '../../support/resolved-options.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const down = new Error('down');
const start = { trigger: 'due', background: true } as const;
const failed = new TicklessError('LOAD_FAILED', 'load failed: down', {
  member: 'v',
  attempts: 2,
  cause: down,
});

/** A reporter with the lines of its logger. */
async function make(optionsOf: typeof optionsOfValue = optionsOfValue) {
  const clock = new FakeClock({ now: NOW - 7000 });
  await clock.advance(7000);
  const logger = recordLines();
  const options = optionsOf({ clock, logger, timeout: 3000 });
  return { reporter: new LoadReporter(options, { ...options, runState: 'open' }), lines: logger.lines };
}

function coolingDown(error: Error, until = NOW + 749.5): CoolingDown {
  return { until, delay: 749.5, error };
}

/** The log line of a failure without a listener or a waiting caller. */
async function lineOf(
  error: Error,
  change: Partial<ExecutionStart> & { kind?: 'failed' | 'timed-out'; attempts?: number; until?: number } = {},
): Promise<string> {
  const { kind = 'failed', attempts = 2, until, ...details } = change;
  const { reporter, lines } = await make();
  reporter.failed(new Entry(), { ...start, ...details }, { kind, attempts }, coolingDown(error, until));
  await undefined; // the other keys of a batch
  expect(lines).toHaveLength(1);
  return lines[0] as string;
}

describe('the log line of a failure', () => {
  it('has the load, the attempt, the next try and the cause', async () => {
    expect(await lineOf(failed)).toBe(
      'warn tickless: v: reads are refused, there is no value; background load failed at attempt 2, ' +
        'next try in 750 ms (2026-01-01T12:00:00.749Z): down',
    );
  });

  const about = { member: 'v', attempts: 2, timeout: 3000 };
  it.each([
    ['names the key', failed, { key: 'NL' }, /; background load of "NL" failed/],
    ['of a load that a caller waits for', failed, { background: false }, /; load failed at attempt 2/],
    ['may name the last instant of all', failed, { until: Infinity }, /\(\+275760-09-13T/],
    [
      'of a timeout has its length and the error of the last try',
      new TicklessError('TIMED_OUT', 'too long', { ...about, cause: down }),
      { kind: 'timed-out' },
      /load timed out after 3 s at attempt 2, .*: down$/,
    ],
    [
      'of a timeout of the first try has no error',
      new TicklessError('TIMED_OUT', 'too long', about),
      { kind: 'timed-out' },
      /load timed out after 3 s at attempt 2, next try in [^:]*:[^:]*:[^:]*Z\)$/,
    ],
    [
      'of an error of the cluster has its message and cause, and counts no attempt where there was none',
      new TicklessError('BACKEND_DOWN', 'no lock', { member: 'v', cause: down }),
      { attempts: 0 },
      /failed before it began, .*: no lock: down$/,
    ],
  ] as const)('%s', async (_, error, change, line) => expect(await lineOf(error, change)).toMatch(line));
});

it('of a broken schedule there is a line', async () => {
  const { reporter, lines } = await make();
  reporter.brokenSchedule(new Entry('NL'), coolingDown(down));
  await undefined;
  expect(lines).toEqual(['error tickless: v: next load of "NL" in 750 ms: down']);
});

it('of a task that does not run without its lock there is a line; of a value that is served there is none', async () => {
  const error = new TicklessError('BACKEND_DOWN', 'the backend is unavailable: down', {
    member: 'v',
    cause: down,
  });
  const linesOf = async (optionsOf: typeof optionsOfValue): Promise<readonly string[]> => {
    const { reporter, lines } = await make(optionsOf);
    const entry = Object.assign(new Entry(), { isLoaded: true, loadedAt: 0 });
    reporter.failed(entry, start, { kind: 'failed', attempts: 0 }, coolingDown(error));
    await undefined;
    return lines;
  };
  expect(await linesOf(optionsOfValue)).toEqual([]);
  expect(await linesOf(optionsOfTask)).toEqual([expect.stringContaining(': run failed before it began')]);
});
