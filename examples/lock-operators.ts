// Operations: list the locks, their holders and their age, and release the lock of an instance that hangs.
import { setTimeout as sleep } from 'node:timers/promises';
import { isLeaseLostError, PeriodicExecutor } from 'tickless';
import { memoryLock } from 'tickless/memory';

const lock = memoryLock({ leaseFor: 600 }); // an operator's script uses the same backend as the service: redisLock({ client }), …

// A service whose clean-up hangs, and keeps extending its lease.
const cleanUp = new PeriodicExecutor(({ signal }) => sleep(60_000, undefined, { signal, ref: false }), {
  name: 'clean-up',
  lock,
  timeout: { minutes: 5 },
  logger: false,
});
let lost: Error | undefined;
cleanUp.on('lease-lost', ({ error }) => {
  lost = error;
});
const running = cleanUp.requestStart().catch((error) => error);
await sleep(50);

/** `npm run locks` */
async function show(): Promise<void> {
  for (const { name, state, token, owner, host, leaseLeft, holdLeft } of await lock.list()) {
    const left = `lease ${Math.round(leaseLeft)} ms, next round in ${Math.round(holdLeft)} ms`;
    console.log(`${name}: ${state}, token ${token}, by ${owner.slice(0, 12)}… on ${host}, ${left}`);
  }
}
await show();

/** `npm run unlock clean-up 1795219200000000`: by token, so that it never hits the next holder. */
async function unlock(name: string, token: number): Promise<boolean> {
  return lock.forceRelease(name, token);
}
const record = await lock.inspect('clean-up');
const token = record?.token ?? 0;
console.log(`released by another token: ${await unlock('clean-up', token - 1)}`); // nothing happens
console.log(`released by its token: ${await unlock('clean-up', token)}`);
await show();

const error = await running; // the holder learns of it at its next extension: a third of the lease
console.log(`the one that hung: ${isLeaseLostError(error) && lost === error ? error.message : 'goes on'}`);
await cleanUp.close({ timeout: 0 });
