import { describe, expect, it } from 'vitest';
import { Entry } from '../../../src/engine/entry.ts';
import { LoadReporter } from '../../../src/engine/load-reporter.ts';
import type { CoolingDown } from '../../../src/engine/timing.ts';
import { LoadError, LoadTimeoutError, LockUnavailableError } from '../../../src/errors.ts';
import { eventTypes, type TicklessEvent } from '../../../src/index.ts';
import { Events, type LoadEndDetails } from '../../../src/observe/events.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { policyOfKey, policyOfTask, policyOfValue } from '../../support/policy.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const down = new Error('down');
const end: LoadEndDetails = { trigger: 'due', background: true, duration: 5, attempts: 2 };

/** A teller, what its logger gets, and with `isHeard` what its listeners get. */
async function make(isHeard: boolean, policyOf = policyOfValue) {
  const clock = new FakeClock({ now: NOW - 7000 });
  await clock.advance(7000);
  const logger = recordLines();
  const policy = policyOf({ clock, logger, timeout: 3000 });
  const events = new Events('v', () => clock.now(), policy.logger);
  const told: TicklessEvent[] = [];
  if (isHeard) for (const type of eventTypes) events.on(type, (event) => told.push(event as TicklessEvent));
  return { clock, teller: new LoadReporter(policy, events), logged: logger.lines, told };
}

function coolingDown(error: Error, until = NOW + 1500): CoolingDown {
  return { until, delay: 1499.5, failures: 1, error };
}

/** The line of the log for a failure that nobody hears of. */
async function lineOf(
  error: Error,
  change: Partial<LoadEndDetails> & { type?: 'load-failed' | 'load-timed-out'; until?: number } = {},
): Promise<string> {
  const { type = 'load-failed', until, ...details } = change;
  const { teller, logged } = await make(false);
  teller.failed(new Entry(), type, { ...end, ...details }, coolingDown(error, until), false);
  expect(logged).toHaveLength(1);
  return logged[0] as string;
}

describe('the log line of a failure', () => {
  const failed = new LoadError('load failed: down', {
    cacheName: 'v',
    key: undefined,
    attempts: 2,
    cause: down,
  });

  it('says what failed, at which try, and when it is tried again; with the cause', async () => {
    expect(await lineOf(failed)).toBe(
      'warn tickless: v: background load failed at attempt 2, ' +
        'tried again from 2026-01-01T12:00:01.500Z (in 1500 ms): down',
    );
  });

  it('says of which key', async () => {
    expect(await lineOf(failed, { key: 'NL' })).toMatch(/background load of .*NL.* failed/);
  });

  it('says that a caller has left, where one was there', async () => {
    expect(await lineOf(failed, { background: false })).toMatch(
      /: load that nobody waits for any more failed/,
    );
  });

  it('says of a timeout how long it was, and why the last try failed, if one did', async () => {
    const details = { cacheName: 'v', attempts: 2, timeout: 3000 };
    for (const [cause, why] of [
      [down, 'down'],
      [undefined, 'too long'],
    ] as const) {
      const error = new LoadTimeoutError('too long', { ...details, cause });
      const line = await lineOf(error, { type: 'load-timed-out' });
      expect(line).toMatch(/load timed out after 3000 ms at attempt 2/);
      expect(line.endsWith(`: ${why}`)).toBe(true);
    }
  });

  it('says that no try was made, and of errors of the cluster what they say', async () => {
    const error = new LockUnavailableError('no lock', { cacheName: 'v', cause: down });
    const line = await lineOf(error, { attempts: 0 });
    expect(line).toMatch(/failed before it could begin, .*: no lock/);
  });

  it('can name the last instant of all', async () => {
    expect(await lineOf(failed, { until: Infinity })).toContain('+275760-09-13');
  });

  it('is not written where a caller hears of it, or a listener', async () => {
    const [unheard, heard] = [await make(false), await make(true)];
    unheard.teller.failed(new Entry(), 'load-failed', end, coolingDown(failed), true);
    heard.teller.failed(new Entry(), 'load-failed', end, coolingDown(failed), false);
    expect([unheard.logged, heard.logged]).toEqual([[], []]);
    expect(heard.told).toMatchObject([{ type: 'load-failed', error: failed, ...end }]);
  });
});

describe('events', () => {
  it('of a failure: the cool-down too, unless a listener has ended it', async () => {
    const { teller, told } = await make(true);
    const entry = Object.assign(new Entry('NL'), { lastError: down });
    teller.failed(entry, 'load-failed', { ...end, key: 'NL' }, coolingDown(down), false);
    expect(told).toMatchObject([
      { type: 'load-failed', key: 'NL', error: down },
      { type: 'cooling-down', key: 'NL', ...coolingDown(down) },
    ]);
  });

  it('of a schedule that is broken: the cool-down, and a line', async () => {
    const { teller, told, logged } = await make(true);
    teller.brokenSchedule(new Entry('NL'), undefined);
    expect([told, logged]).toEqual([[], []]);
    teller.brokenSchedule(new Entry('NL'), coolingDown(down));
    expect(told).toMatchObject([{ type: 'cooling-down', key: 'NL', ...coolingDown(down) }]);
    expect(logged).toEqual([
      'error tickless: v: executed again from 2026-01-01T12:00:01.500Z (in 1500 ms): down',
    ]);
  });

  it('of an absent key: until when it is', async () => {
    const { teller, told } = await make(true, (options) => policyOfKey({ ...options, absentFor: 2499.5 }));
    teller.succeeded(new Entry('NL'), 'absent', end);
    const until = { nextExecuteTime: NOW + 2500 };
    expect(told).toMatchObject([{ type: 'load-succeeded', isAbsent: true, ...until, ...end }]);
  });

  it('of what was adopted: its version and age; of a task nothing', async () => {
    const [value, task] = [await make(true), await make(true, policyOfTask)];
    const what = { version: 7, loadedAt: 6900 } as Parameters<LoadReporter['adopted']>[1];
    for (const { teller } of [value, task]) teller.adopted(new Entry('NL'), what);
    expect([value.told, task.told]).toMatchObject([
      [{ type: 'snapshot-adopted', version: 7, age: 100, key: 'NL' }],
      [],
    ]);
  });
});
