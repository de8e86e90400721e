// SIGTERM in a cluster: the running reload may finish within a deadline, and the lock is released only after it. So no
// other instance starts a load while this one is still running.
import { setTimeout as sleep } from 'node:timers/promises';
import { RefreshGroup } from 'tickless';
import { memoryBackend } from 'tickless/memory';

const backend = memoryBackend(); // in production: redisBackend({ client }), postgresBackend({ client }), …
let isLoading = false;
let loads = 0;

/** Two instances of one service; in production each is a process. */
function instance(loadMs: number): RefreshGroup {
  const group = new RefreshGroup({ backend, schedule: { minutes: 10 } });
  group.value({
    name: 'price-list',
    load: async ({ signal }) => {
      if (isLoading) console.error('two instances load at the same time'); // never happens
      isLoading = true;
      loads += 1;
      try {
        await sleep(loadMs, undefined, { signal });
        return { apples: 3 };
      } finally {
        isLoading = false;
      }
    },
    required: true,
  });
  return group;
}

const stopping = instance(300);
const other = instance(50);

process.once('SIGTERM', async () => {
  console.log('SIGTERM: waits for the load, releases the lock, exits');
  // The platform kills the process after its grace period (Kubernetes: 30 s): stay below it. A longer load is aborted.
  const { aborted, leases } = await stopping.close({ timeout: { seconds: 20 } });
  console.log(`closed: ${aborted.length} loads aborted, ${leases.length} leases left`);

  const { ok } = await other.ready(); // takes over the value; no instance loads again
  console.log(`the other instance is ${ok ? '' : 'not '}ready, loads: ${loads}`);
  await other.close();
});

stopping.requestStart(); // a reload begins, in the midst of which we are stopped
while (!isLoading) await sleep(5);
console.log('price-list: loading');
process.kill(process.pid, 'SIGTERM');
