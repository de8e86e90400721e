import { Cron } from 'croner';
import { expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  isClosedError,
  isOptionError,
  type LockedSchedulerOptions,
  lockedContext,
  lockedScheduler,
} from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { lockOf } from '../../support/parts.ts';
import { thrownBy } from '../../support/settle.ts';

const AT_FIVE = '0 5 * * *';

function lockedCron(own: Partial<LockedSchedulerOptions> = {}) {
  return lockedScheduler(Cron, {
    lock: lockOf(memoryBackend()),
    lockAtMostFor: '1m',
    lockAtLeastFor: '1m',
    ...own,
  });
}

it('runs each job of croner on one instance a round, with the arguments of the scheduler', async () => {
  const lock = lockOf(memoryBackend());
  const runs: string[] = [];
  const instances = ['here', 'there'].map((instance) => {
    const locked = lockedCron({ lock });
    const jobs = ['reports', 'clean-up'].map(
      (name) =>
        new locked.scheduler(AT_FIVE, { name, paused: true }, async (self: Cron) => {
          const { token, signal } = lockedContext();
          runs.push(`${self.name} ${instance} ${token > 0} ${signal.aborted}`);
        }),
    );
    // croner refuses a second job of a name in a process: another instance would be another process
    for (const job of jobs) job.stop();
    return { locked, jobs };
  });
  for (const { jobs } of instances) for (const job of jobs) await job.trigger();
  expect(runs).toEqual(['reports here true false', 'clean-up here true false']);
  const [first] = instances[0]?.jobs ?? [];
  expect(first).toBeInstanceOf(Cron);
  expect((await lock.list()).map(({ name }) => name).sort()).toEqual(['clean-up', 'reports']);
  for (const { locked } of instances) expect((await locked.close()).drained).toBe(true);
});

it('gives the error of a job to the scheduler, and logs a lock that is unavailable', async () => {
  const caught: unknown[] = [];
  const failing = lockedCron();
  const options = { name: 'failing', paused: true, catch: (error: unknown) => void caught.push(error) };
  const job = new failing.scheduler(AT_FIVE, options, () => {
    throw new Error('the job');
  });
  await job.trigger();
  job.stop();
  expect(caught).toEqual([new Error('the job')]);
  await failing.close();
  await job.trigger();
  expect(isClosedError(caught[1])).toBe(true);

  const lines: string[] = [];
  const down = async (): Promise<never> => {
    throw new Error('redis is down');
  };
  const lock = asLock({ leaseFor: 1000, acquire: down, extend: down, release: down });
  const logger = { warn: (line: string) => void lines.push(line), error: () => {} };
  let runs = 0;
  const unlocked = lockedCron({ lock, logger });
  const silent = new unlocked.scheduler(AT_FIVE, { name: 'silent', paused: true }, () => {
    runs += 1;
  });
  await silent.trigger();
  silent.stop();
  expect(runs).toBe(0);
  expect(lines).toEqual([expect.stringMatching(/^tickless: silent: is not run: .*redis is down/)]);
  await unlocked.close();
});

it('refuses jobs without a name or a function, and options that break a rule', () => {
  const { scheduler } = lockedCron();
  expect(() => new scheduler(AT_FIVE, () => {})).toThrow('lockedScheduler: name must');
  const later = { name: 'later', paused: true };
  expect(() => new scheduler(AT_FIVE, later)).toThrow('job must be a function');
  expect(() => lockedCron({ lock: {} as never }).scheduler).not.toThrow(); // known when there is a job
  expect(isOptionError(thrownBy(() => lockedCron({ lockAtLeastFor: undefined as never })))).toBe(true);
  expect(isOptionError(thrownBy(() => lockedScheduler(5 as never, {} as never)))).toBe(true);
});

it('aborts a job that runs when it is closed', async () => {
  const locked = lockedCron({ logger: false });
  let signal: AbortSignal | undefined;
  const job = new locked.scheduler(AT_FIVE, { name: 'long', paused: true, catch: true }, async () => {
    ({ signal } = lockedContext());
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal?.reason)));
  });
  const run = job.trigger();
  await expect.poll(() => signal).toBeDefined();
  const report = await locked.close({ timeout: 0 });
  expect(report.aborted).toHaveLength(1);
  expect(signal?.aborted).toBe(true);
  await run;
  job.stop();
});
