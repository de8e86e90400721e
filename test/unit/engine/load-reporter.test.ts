import { describe, expect, it } from 'vitest';
import type { ClusterMember } from '../../../src/cluster/cluster-member.ts';
import { Adoption, type RemoteLoad } from '../../../src/cluster/remote-result.ts';
import { Entry } from '../../../src/engine/entry.ts';
import { LoadReporter } from '../../../src/engine/load-reporter.ts';
import { TicklessError } from '../../../src/errors.ts';
import { eventTypes, type TicklessEvent } from '../../../src/index.ts';
import { Counters } from '../../../src/observe/counters.ts';
import type { CoolingDown, LoadEndDetails } from '../../../src/observe/events.ts';
import { Events } from '../../../src/observe/member-events.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { optionsOfKey, optionsOfTask, optionsOfValue } from '../../support/resolved-options.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const down = new Error('down');
const end: LoadEndDetails = { trigger: 'due', background: true, duration: 5, attempts: 2 };
const failed = new TicklessError('LOAD_FAILED', 'load failed: down', {
  member: 'v',
  attempts: 2,
  cause: down,
});

/** A reporter with the lines of its logger, and with `listens` the events that its listeners get. */
async function make({ listens = true, optionsOf = optionsOfValue } = {}) {
  const clock = new FakeClock({ now: NOW - 7000 });
  await clock.advance(7000);
  const logger = recordLines();
  const options = optionsOf({ clock, logger, timeout: 3000 });
  const events = new Events('v', options, new Counters());
  const emitted: TicklessEvent[] = [];
  if (listens)
    for (const type of eventTypes) events.on(type, (event) => emitted.push(event as TicklessEvent));
  return {
    options,
    events,
    reporter: new LoadReporter(options, events, { ...options, runState: 'open' }),
    lines: logger.lines,
    emitted,
  };
}

function coolingDown(error: Error, until = NOW + 749.5): CoolingDown {
  return { until, delay: 749.5, failures: 1, error };
}

/** The log line of a failure without a listener or a waiting caller. */
async function lineOf(
  error: Error,
  change: Partial<LoadEndDetails> & { type?: 'load-failed' | 'load-timed-out'; until?: number } = {},
): Promise<string> {
  const { type = 'load-failed', until, ...details } = change;
  const { reporter, lines } = await make({ listens: false });
  reporter.failed(new Entry(), type, { ...end, ...details }, coolingDown(error, until));
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
      { type: 'load-timed-out' },
      /load timed out after 3 s at attempt 2, .*: down$/,
    ],
    [
      'of a timeout of the first try has no error',
      new TicklessError('TIMED_OUT', 'too long', about),
      { type: 'load-timed-out' },
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

describe('the events', () => {
  it('of a failure: the cool-down too, unless a listener has ended it', async () => {
    const { reporter, emitted } = await make();
    const entry = Object.assign(new Entry('NL'), { lastError: down });
    reporter.failed(entry, 'load-failed', { ...end, key: 'NL' }, coolingDown(down));
    expect(emitted).toMatchObject([
      { type: 'load-failed', key: 'NL', error: down },
      { type: 'cooling-down', key: 'NL', ...coolingDown(down) },
    ]);
  });

  it('of a broken schedule: the cool-down, and a line', async () => {
    const { reporter, emitted, lines } = await make();
    reporter.brokenSchedule(new Entry('NL'), coolingDown(down));
    expect(emitted).toMatchObject([{ type: 'cooling-down', key: 'NL', ...coolingDown(down) }]);
    await undefined;
    expect(lines).toEqual(['error tickless: v: next load of "NL" in 750 ms: down']);
  });

  it('of an absent key: how long it stays absent', async () => {
    const { reporter, emitted } = await make({
      optionsOf: (options) => optionsOfKey({ ...options, absentFor: 2499.5 }),
    });
    reporter.succeeded(new Entry('NL'), 'absent', end);
    const until = { nextExecuteTime: NOW + 2500 };
    expect(emitted).toMatchObject([{ type: 'load-succeeded', isAbsent: true, ...until, ...end }]);
  });

  it('of an adopted snapshot: its version and age; none of a task', async () => {
    const [value, task] = [await make(), await make({ optionsOf: optionsOfTask })];
    const remote = { version: 7, loadedAt: 6900 } as RemoteLoad<unknown>;
    for (const { options, events } of [value, task]) {
      new Adoption({ options, events } as ClusterMember, remote).report(new Entry('NL'), {
        trigger: 'due',
        background: true,
      });
    }
    expect(value.emitted).toMatchObject([{ type: 'snapshot-adopted', version: 7, age: 100, key: 'NL' }]);
    expect(task.emitted).toEqual([]);
  });
});

it('of a task that does not run without its lock there is a line; of a value that is served there is none', async () => {
  const error = new TicklessError('BACKEND_DOWN', 'the lock is unavailable: down', {
    member: 'v',
    cause: down,
  });
  const linesOf = async (optionsOf: typeof optionsOfValue): Promise<readonly string[]> => {
    const { reporter, lines } = await make({ listens: false, optionsOf });
    const entry = Object.assign(new Entry(), { isLoaded: true, loadedAt: 0 });
    reporter.failed(entry, 'load-failed', { ...end, attempts: 0 }, coolingDown(error));
    await undefined;
    return lines;
  };
  expect(await linesOf(optionsOfValue)).toEqual([]);
  expect(await linesOf(optionsOfTask)).toEqual([expect.stringContaining(': run failed before it began')]);
});
