import { memoryBackend } from '../dist/backends/memory.js';
import { RefreshingValue } from '../dist/index.js';
import { FakeClock } from '../dist/testing/index.js';
import { lockOf, storeOf } from '../test/support/parts.ts';

/** The calls of a cluster to its source, lock and store. Counts per round. */
export interface InstanceCounts {
  readonly instances: number;
  readonly loads: number;
  readonly acquires: number;
  readonly releases: number;
  readonly reads: number;
  readonly writes: number;
}

const PERIOD_MS = 60_000;
const ROUNDS = 10;

/** The instances run in one process on one manual clock, and share the lock and the store. */
export async function countInstances(counts: readonly number[]): Promise<InstanceCounts[]> {
  const all: InstanceCounts[] = [];
  for (const instances of counts) all.push(await count(instances));
  return all;
}

async function count(instances: number): Promise<InstanceCounts> {
  const clock = new FakeClock();
  const calls: Record<string, number> = {};
  const lock = counted(lockOf(memoryBackend({ clock })), calls);
  const store = counted(storeOf(memoryBackend({ clock })), calls);
  let loads = 0;
  const load = async (): Promise<number> => {
    loads += 1;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 500));
    return loads;
  };
  const values = Array.from(
    { length: instances },
    () => new RefreshingValue({ name: 'bench', load, schedule: PERIOD_MS, backend: { lock, store }, clock }),
  );
  const readAll = async (): Promise<void> => {
    const reads = values.map((value) => value.get());
    await clock.advance(1000);
    await Promise.all(reads);
  };
  await readAll();
  const before: Record<string, number> = { ...calls, loads };
  // Read each second, as a service does. A round is over when all have its value.
  for (let round = 0; round < ROUNDS; round++) {
    const had = values.map((value) => value.peek());
    while (values.some((value, i) => value.peek() === had[i])) await readAll();
  }
  const after: Record<string, number> = { ...calls, loads };
  const per = (name: string): number => ((after[name] ?? 0) - (before[name] ?? 0)) / ROUNDS;
  return {
    instances,
    loads: per('loads'),
    acquires: per('acquire'),
    releases: per('release'),
    reads: per('read'),
    writes: per('write'),
  };
}

/** The same object with counted methods. */
function counted<T extends object>(target: T, calls: Record<string, number>): T {
  return new Proxy(target, {
    get(_, name) {
      const property: unknown = Reflect.get(target, name, target);
      if (typeof property !== 'function') return property;
      return (...args: unknown[]) => {
        calls[String(name)] = (calls[String(name)] ?? 0) + 1;
        return property.apply(target, args);
      };
    },
  });
}
