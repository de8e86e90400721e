import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { SignalBus } from '../../../src/cluster/signal-contract.ts';
import { refreshing } from '../../../src/decorators/index.ts';
import {
  derive,
  PeriodicExecutor,
  RefreshingCache,
  RefreshingValue,
  refreshing as refreshingFunction,
} from '../../../src/index.ts';
import { createSignals } from '../../../src/signals/create-signals.ts';
import { settledHeap } from '../../system/soak/settled-heap.ts';

/** What an owner drops without `close()`, and what the owner itself is. */
type Owner = object;

const bus: SignalBus = {
  send: () => {},
  listen: async () => () => {},
};

function backend(): ReturnType<typeof memoryBackend> {
  return memoryBackend({ signals: createSignals(bus), keepVersions: 3 });
}

class Decorated {
  @refreshing<Decorated>((one) => ({ backend: one.backend, ...plain }))
  async rates(): Promise<number> {
    return 1;
  }

  @refreshing<Decorated>((one) => ({ backend: one.backend, ...plain, max: 10 }))
  async city(code: string): Promise<string> {
    return code;
  }

  readonly backend: ReturnType<typeof memoryBackend>;

  constructor(of: ReturnType<typeof memoryBackend>) {
    this.backend = of;
  }
}

const plain = { schedule: '1h', logger: false, propagateWithin: 5 } as const;

const make: Readonly<
  Record<string, (of: ReturnType<typeof memoryBackend>, name: string) => Promise<Owner> | Owner>
> = {
  'decorated instances': async (of) => {
    const one = new Decorated(of);
    await Promise.all([one.rates(), one.city('a')]);
    return one;
  },
  values: async (of, name) => {
    const value = new RefreshingValue({ ...plain, name, backend: of, load: () => 1 });
    await value.get();
    return value;
  },
  'values that were never read': (of, name) =>
    new RefreshingValue({ ...plain, name, backend: of, load: () => 1 }),
  'values whose load fails': async (of, name) => {
    const fails = (): never => {
      throw new Error('down');
    };
    const value = new RefreshingValue({ ...plain, name, backend: of, load: fails, retry: false });
    await value.get().catch(() => {});
    return value;
  },
  'values set everywhere': async (of, name) => {
    const value = new RefreshingValue({ ...plain, name, backend: of, load: () => 1 });
    await value.set(2);
    await value.pause();
    await value.history();
    return value;
  },
  caches: async (of, name) => {
    const cache = new RefreshingCache({ ...plain, name, backend: of, max: 10, load: (key: string) => key });
    await cache.get('a');
    await cache.invalidate('a');
    return cache;
  },
  functions: async (of, name) => {
    const rates = refreshingFunction(async () => 1, { ...plain, name, backend: of });
    await rates();
    return rates;
  },
  'derived values': async (of, name) => {
    const derived = derive(
      new RefreshingValue({ ...plain, name, backend: of, load: () => 1 }),
      (one) => one + 1,
      { logger: false },
    );
    await derived.get();
    return derived;
  },
  executors: async (of, name) => {
    const executor = new PeriodicExecutor(() => {}, { ...plain, name, backend: of });
    await executor.execute();
    return executor;
  },
};

/** How many of a kind are left that should not be. */
function left(dropped: readonly (readonly [string, WeakRef<Owner>])[]): string[] {
  return dropped.filter(([, one]) => one.deref() !== undefined).map(([kind]) => kind);
}

beforeAll(() => {
  setFlagsFromString('--expose-gc');
  globalThis.gc ??= runInNewContext('gc') as typeof gc;
});

it('what is dropped without close() is collected, also where it takes part in checks', async () => {
  const shared = backend();
  const keeper = new RefreshingValue({ ...plain, name: 'keeper', backend: shared, load: () => 1 });
  await keeper.get();
  const dropped: [string, WeakRef<Owner>][] = [];
  for (const [kind, one] of Object.entries(make))
    for (let i = 0; i < 5; i++) dropped.push([kind, new WeakRef(await one(shared, `${kind}-${i}`))]);
  await new Promise((resolve) => setTimeout(resolve, 10));
  keeper.current; // a check of all
  await settledHeap();
  expect(left(dropped)).toEqual([]);
  await keeper.close();
});

it('nor does the backend alone keep anything', async () => {
  const shared = backend();
  const dropped: [string, WeakRef<Owner>][] = [];
  for (const [kind, one] of Object.entries(make)) dropped.push([kind, new WeakRef(await one(shared, kind))]);
  await new Promise((resolve) => setTimeout(resolve, 10));
  await settledHeap();
  expect(left(dropped)).toEqual([]);
  expect(shared.store).toBeDefined();
});
