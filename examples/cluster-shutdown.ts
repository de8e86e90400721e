// SIGTERM in a cluster: the running reload may finish within a deadline, and the lock is released only after it. So no
// other instance starts a load while this one is still running.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { RefreshGroup } from 'tickless';
import { memoryLock } from 'tickless/lock/memory';
import { memoryStore } from 'tickless/store/memory';

const lock = memoryLock(); // in production: redisLock({ client }), postgresLock({ client }), …
const store = memoryStore();
let isLoading = false;

/** Two instances of one service; in production each is a process. */
function instance(loadMs: number): RefreshGroup {
  const group = new RefreshGroup({ lock, store, schedule: { minutes: 10 } });
  group.value({
    name: 'price-list',
    load: async ({ signal }) => {
      assert.equal(isLoading, false, 'two instances load at the same time');
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
  assert.equal(record?.state, 'done'); // loaded, published, and the lock released

  const { ok } = await other.ready(); // adopts the snapshot, without a load
  assert.equal(ok, true);
  const [now] = await lock.list();
  assert.equal(now?.token, record?.token);
  console.log('the other instance serves the value that this one loaded');
  await other.close();
});

stopping.requestStart(); // starts a reload, during which the process is stopped
await sleep(50);
assert.equal((await lock.inspect('price-list'))?.state, 'running');
process.kill(process.pid, 'SIGTERM');
