// What the console of the tests shows: three instances of a service, of which the first one has the console.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConsoleOptions } from '../../../src/console/index.ts';
import { nodeConsole } from '../../../src/console/node.ts';
import { type Backend, lockedTask, RefreshGroup, type RefreshingValue } from '../../../src/index.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { lockOf, partsOn } from '../../support/parts.ts';

export const HOSTILE = [
  '<script>document.title="owned"</script>',
  '"><img src=x onerror=document.title="owned">',
  `long-${'x'.repeat(10_000)}`,
  'שירות-המחירים\u202egnp.exe',
];

interface Source {
  isDown: boolean;
  edition: number;
  /** How many articles it has. */
  size: number;
}

interface Instance {
  readonly group: RefreshGroup;
  readonly prices: RefreshingValue<Map<string, number>>;
}

/** A service on a server, with what tests change. */
export interface World {
  readonly url: string;
  readonly source: Source;
  readonly instances: readonly Instance[];
  readonly lock: Lock;
  /** Reads every member on all instances, as traffic does. */
  read(): Promise<void>;
  /** Adds members with the names of {@link HOSTILE} on all instances, and reads them. */
  addHostile(): Promise<void>;
  close(): Promise<void>;
}

/** @param backends that of each instance. @default one memory for all */
export async function startWorld(
  options: ConsoleOptions = {},
  backends: () => Backend = sharedMemory(),
): Promise<World> {
  const source: Source = { isDown: false, edition: 0, size: 500 };
  const all = [0, 1, 2].map(() => instance(backends(), source));
  const [{ group, backend }] = all as [(typeof all)[number]];
  const report = lockedTask(async () => 'sent', {
    name: 'nightly-report',
    backend,
    lockAtMostFor: { minutes: 10 },
    lockAtLeastFor: { minutes: 5 },
  });
  await report();
  const secret = 'the tests have a secret of their own';
  const own: ConsoleOptions = {
    authorize: () => 'ann',
    actions: true,
    showValue: (value) => value,
    backend,
    secret,
  };
  const console = nodeConsole(group, { ...own, refreshEvery: 500, ...options });
  const server = createServer((request, response) => console(request, response));
  const url = await listen(server);
  const read = async (): Promise<void> => {
    for (const { group: of } of all) {
      for (const { kind, member } of of.members()) {
        if (kind === 'cache') await Promise.allSettled(['1012', '2513'].map((key) => member.get(key)));
        else if (kind === 'value') await member.get().catch(() => {});
        else await member.requestStart().catch(() => {});
      }
    }
  };
  await read();
  return {
    url: `${url}/tickless/`,
    source,
    instances: all,
    lock: lockOf(backend),
    read,
    addHostile: async () => {
      for (const { group: of } of all)
        for (const name of HOSTILE) await of.value({ name, backend: false, load: async () => 1 }).get();
    },
    close: async () => {
      await console.close();
      server.closeAllConnections();
      server.close();
      await Promise.all(all.map(({ group: of }) => of.close({ timeout: 0 })));
    },
  };
}

function instance(backend: Backend, source: Source) {
  const group = new RefreshGroup({
    backend,
    schedule: { minutes: 10 },
    propagateWithin: 200,
    retry: false,
    logger: false,
  });
  const check = async (): Promise<void> => {
    if (source.isDown) throw new Error('connect ECONNREFUSED postgres://reader:hunter2@10.0.0.7:5432/prices');
  };
  const prices = group.value<Map<string, number>>({
    name: 'prices',
    maxStaleness: { minutes: 30 },
    load: async () => {
      await check();
      if (source.size >= 100) source.edition += 1; // the one that is refused stays as it is
      return new Map(
        Array.from({ length: source.size }, (_, at) => [
          `article-${at}`,
          at + (at % 50 === 0 ? source.edition : 0),
        ]),
      );
    },
    accept: (value) => (value.size < 100 ? `only ${value.size} of 500 articles` : true),
    required: true,
  });
  group.value({
    name: 'exchange-rates',
    load: async () => ({ USD: 1.08 + source.edition / 1000, GBP: 0.86 }),
  });
  group.value({
    name: 'suppliers',
    schedule: { seconds: 30 },
    load: async (): Promise<string[]> => {
      throw new Error('connect ETIMEDOUT https://api:hunter2@suppliers.example/list', {
        cause: new Error('socket hang up, token=hunter2'),
      });
    },
  });
  group.cache({ name: 'cities', backend: 'group', load: async (code: string) => `City of ${code}` });
  group.executor(async () => {}, { name: 'session-cleaner', schedule: { minutes: 5 } });
  return { group, prices, backend };
}

/** An object of its own for each instance, as each process has one. */
function sharedMemory(): () => Backend {
  const records = memoryRecords(systemClock);
  return () => partsOn(records, { keepVersions: 10 });
}

export function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
}
