// An existing scheduler, here croner, fires on each instance at the same time. `lockedTask` makes one of them run the
// task; with node-cron it is `cron.schedule('* * * * * *', report)`.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import { isTicklessError, type LockedOutcome, lockedTask } from 'tickless';
import { memoryBackend } from 'tickless/memory';

const backend = memoryBackend(); // in production a shared one: redisBackend({ client }), postgresBackend({ client }), …
const sent: string[] = [];
const outcomes: string[] = [];

/** The start of each instance of the service. */
function startInstance(instance: string): Cron {
  const report = lockedTask(
    async ({ signal }) => {
      await sleep(20, undefined, { signal }); // the work
      sent.push(instance);
    },
    {
      name: 'report',
      backend,
      lockAtMostFor: { minutes: 1 }, // longer than the task ever takes; the lease is extended up to it
      lockAtLeastFor: 600, // longer than the differences between clocks, shorter than the time between two runs
    },
  );
  const run = async (): Promise<void> => {
    try {
      const outcome: LockedOutcome = await report();
      outcomes.push(outcome.kind); // executed here, held elsewhere, or done elsewhere: not an error
      if (outcome.kind === 'executed') console.log(`${instance} has sent the report`);
    } catch (error) {
      console.log(
        isTicklessError(error, 'BACKEND_DOWN') ? 'lock unavailable, not run' : 'the report failed',
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
