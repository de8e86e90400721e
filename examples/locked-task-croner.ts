// A scheduler that you have already, here croner, fires on each instance at the same time. `lockedTask` lets one of them
// run the task; with node-cron it is `cron.schedule('* * * * * *', report)`.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import { isLockUnavailableError, type LockedOutcome, lockedTask } from 'tickless';
import { memoryLock } from 'tickless/lock/memory';

const lock = memoryLock(); // in production one that all instances share: redisLock({ client }), postgresLock({ client })
const sent: string[] = [];
const outcomes: string[] = [];

/** Each instance of the service does this when it starts. */
function startInstance(instance: string): Cron {
  const report = lockedTask(
    async ({ signal }) => {
      await sleep(20, undefined, { signal }); // the work
      sent.push(instance);
    },
    {
      name: 'report',
      lock,
      lockAtMostFor: { minutes: 1 }, // longer than the task ever takes: after a crash it stays locked so long
      lockAtLeastFor: 600, // longer than clocks and schedulers differ, shorter than the time between two runs
    },
  );
  const run = async (): Promise<void> => {
    try {
      const outcome: LockedOutcome = await report();
      outcomes.push(outcome.kind); // executed here; held or done by another: no error
      if (outcome.kind === 'executed') console.log(`${instance} has sent the report`);
    } catch (error) {
      console.log(
        isLockUnavailableError(error) ? 'the lock is unavailable, not run' : 'the report failed',
        error,
      );
    }
  };
  return new Cron('* * * * * *', run); // every second
}

const crons = ['instance 1', 'instance 2', 'instance 3'].map(startInstance);
await sleep(2500);
for (const cron of crons) cron.stop();
await sleep(100);

const seconds = outcomes.length / crons.length;
console.log(`fired ${outcomes.length} times in ${seconds} seconds, run ${sent.length} times`);
