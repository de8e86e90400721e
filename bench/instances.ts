import { memoryBackend } from '../dist/backends/memory.js';
import { RefreshingValue } from '../dist/index.js';
import { FakeClock } from '../dist/testing/index.js';

/** The loads and the commands of all instances of a cluster, in each round. */
export interface InstanceCounts {
  readonly instances: number;
  readonly loads: number;
  readonly commands: number;
}

const PERIOD_MS = 60_000;
const ROUNDS = 10;

/** The instances run in one process on one manual clock, and share the backend. */
export async function countInstances(counts: readonly number[]): Promise<InstanceCounts[]> {
  const all: InstanceCounts[] = [];
  for (const instances of counts) all.push(await count(instances));
  return all;
}

async function count(instances: number): Promise<InstanceCounts> {
  const clock = new FakeClock();
  const backend = memoryBackend({ clock });
  let loads = 0;
  const load = async (): Promise<number> => {
    loads += 1;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 500));
    return loads;
  };
  const values = Array.from(
    { length: instances },
    () => new RefreshingValue({ name: 'bench', load, schedule: PERIOD_MS, backend, clock }),
  );
  const commands = (): number =>
    values.reduce((sum, value) => {
      const { lockCommands, storeCommands } = value.inspect().counts;
      return sum + lockCommands + storeCommands;
    }, 0);
  const readAll = async (): Promise<void> => {
    const reads = values.map((value) => value.get());
    await clock.advance(1000);
    await Promise.all(reads);
  };
  await readAll();
  const before = { loads, commands: commands() };
  // Read each second, as a service does. A round is over when all have its value.
  for (let round = 0; round < ROUNDS; round++) {
    const had = values.map((value) => value.peek());
    while (values.some((value, i) => value.peek() === had[i])) await readAll();
  }
  return {
    instances,
    loads: (loads - before.loads) / ROUNDS,
    commands: (commands() - before.commands) / ROUNDS,
  };
}
