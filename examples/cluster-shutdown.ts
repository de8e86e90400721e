// SIGTERM in a cluster: the running reload may finish within a deadline, and the lock is released only after it. So no
// other instance starts a load while this one is still running.
import { setTimeout as sleep } from 'node:timers/promises';
import { RefreshGroup } from 'tickless';
import { memoryBackend } from 'tickless/memory';

const backend = memoryBackend(); // in production: redisBackend({ client }), postgresBackend({ client }), …
const { lock } = backend;
let isLoading = false;

/** Two instances of one service; in production each is a process. */
function instance(loadMs: number): RefreshGroup {
  const group = new RefreshGroup({ backend, schedule: { minutes: 10 } });
  group.value({
    name: 'price-list',
    load: async ({ signal }) => {
      if (isLoading) console.error('two instances load at the same time'); // never happens
      isLoading = true;
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
  await stopping.close({ timeout: { seconds: 20 } });
  const [record] = await lock.list();
  console.log(`${record?.name}: ${record?.state}, held for another ${record?.leaseLeft} ms`);

  const { ok } = await other.ready(); // adopts the snapshot; no instance loads again
  const [now] = await lock.list();
  console.log(
    `the other instance is ${ok ? '' : 'not '}ready, loads since: ${now?.token === record?.token ? 0 : 1}`,
  );
  await other.close();
});

stopping.requestStart(); // a reload begins, in the midst of which we are stopped
while (!isLoading) await sleep(5);
console.log(`price-list: ${(await lock.inspect('price-list'))?.state}`);
process.kill(process.pid, 'SIGTERM');
