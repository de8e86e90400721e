// A feature flag that is switched on one instance is known on all of them within a second, without a message bus: reads
// start a check of the store behind them, one command a second for all members. Here the two instances are in one process and
// share a directory; for several machines use `redisBackend` and the like.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loaded, RefreshGroup } from 'tickless';
import { fileBackend } from 'tickless/file';

const directory = mkdtempSync(join(tmpdir(), 'flags-'));
const plans: Record<string, string> = { 'tenant-7': 'trial', 'tenant-8': 'paid' }; // the source
let loads = 0;

function instance() {
  const group = new RefreshGroup({
    schedule: { hours: 1 }, // the next load is far away
    propagateWithin: { seconds: 1 },
    backend: fileBackend({ directory: join(directory, 'flags') }),
  });
  const flags = group.value({ name: 'flags', load: async () => ({ newCheckout: false }) });
  const ofUser = group.cache({
    name: 'flags-of-user',
    backend: 'group', // a cache takes part only where it says so
    load: async (user: string) => {
      loads += 1;
      const [tenant = ''] = user.split('/');
      return loaded({ export: plans[tenant] === 'paid' }, { tags: [tenant] });
    },
  });
  return { group, flags, ofUser };
}

const [here, there] = [instance(), instance()];
const users = ['tenant-7/ann', 'tenant-7/bob', 'tenant-8/eve'];
for (const { flags, ofUser } of [here, there])
  console.log(await flags.get(), (await ofUser.getMany(users)).size);
console.log(`${loads} loads for 2 instances with 3 users each`);

/** Reads there, as requests do, until that is so. */
async function thereWhen(isSo: () => boolean): Promise<string> {
  const begun = performance.now();
  while (!isSo()) await sleep(10);
  return `there after ${Math.round(performance.now() - begun)} ms`;
}

// 1. An operator switches the new checkout on. `await`: the store has it.
await here.flags.set({ newCheckout: true });
console.log(`new checkout: ${await thereWhen(() => there.flags.current.newCheckout)}`);

// 2. Tenant 7 has paid: the flags of all its users are due, on all instances. Each is loaded once for all, when it is read.
plans['tenant-7'] = 'paid';
await here.ofUser.invalidateTag('tenant-7');
console.log(`export for ann: ${await thereWhen(() => there.ofUser.current('tenant-7/ann').export)}`);
console.log(`${loads} loads by now`);

console.log(there.flags.inspect().checks); // and the problem `checks-failing` of `health()` when the store can't be reached
await Promise.all([here.group.close(), there.group.close()]);
rmSync(directory, { recursive: true });
