// Several processes share one source: one of them loads, and the others adopt its result. Here they are three processes
// of one machine that share a directory; for several machines use `redisBackend`, `postgresBackend` and the like.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RefreshingValue } from 'tickless';
import { fileBackend } from 'tickless/file';

if (process.send === undefined) await main();
else await instance(process.argv[2] as string);

async function instance(directory: string): Promise<void> {
  let loads = 0;
  const rates = new RefreshingValue({
    name: 'exchange-rates',
    load: async ({ token }) => {
      loads += 1;
      await sleep(200);
      return { USD: 1.08, token };
    },
    schedule: { minutes: 10 },
    backend: fileBackend({ directory: join(directory, 'rates'), leaseFor: { seconds: 10 } }),
  });
  const { USD } = await rates.get(); // loads, or waits for the process that does
  await rates.close(); // publishes the loaded value, and releases the lock
  const { age = 0, lock } = rates.inspect();
  process.send?.({ USD, loads, age, version: lock?.version });
  process.disconnect();
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rates-'));
  const start = (): ChildProcess => fork(process.argv[1] as string, [directory]);
  const report = async (child: ChildProcess) => {
    const [[message]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
    return message;
  };

  const reports = await Promise.all([start(), start(), start()].map(report));
  for (const { USD, loads, age } of reports) {
    console.log(`USD ${USD}, ${Math.round(age)} ms old, loaded here: ${loads === 1 ? 'yes' : 'no'}`);
  }
  const loadCount = reports.reduce((sum, { loads }) => sum + loads, 0);
  const versions = new Set(reports.map(({ version }) => version));
  console.log(`three processes, ${loadCount} load, ${versions.size} version`);

  const { loads, age } = await report(start()); // a restarted process finds the snapshot, and serves it at once
  console.log(`after a restart: ${Math.round(age)} ms old, loaded here: ${loads === 1 ? 'yes' : 'no'}`);
  rmSync(directory, { recursive: true });
}
