// What a user of the package writes. check-package.mjs type-checks a copy of it against the packed tarball, with
// `skipLibCheck: false`, under both module resolutions that matter.

import {
  type Execution,
  isTicklessError,
  type LoadContext,
  PeriodicExecutor,
  RefreshingCache,
  RefreshingValue,
  refreshing,
  type StandardSchema,
} from 'tickless';
import { cron, dailyAt } from 'tickless/calendar';
import { publishDiagnostics } from 'tickless/diagnostics';
import { changesAtMost, every, growsAtMost, notEmpty, shrinksAtMost } from 'tickless/guards';
import { FakeClock } from 'tickless/testing';
import { isWorkerError, loadInWorker } from 'tickless/worker';

interface Rates {
  readonly euro: number;
}

const rates = new RefreshingValue({
  name: 'rates',
  load: async ({ signal, previous }): Promise<Rates> => {
    signal.throwIfAborted();
    return { euro: (previous?.value as Rates | undefined)?.euro ?? 1 };
  },
  schedule: { minutes: 10 },
  accept: every(notEmpty(), shrinksAtMost(0.3)),
  clock: new FakeClock(),
});
const inferred: Promise<Rates> = rates.get();
const current: number = rates.current.euro;
// @ts-expect-error the value is inferred from the load, so this is no string
const wrong: string = rates.current.euro;

const threaded = new RefreshingValue({
  name: 'threaded',
  load: loadInWorker<Rates>(new URL('file:///rates.js')),
});
const euro: number = threaded.current.euro;

const checked: StandardSchema<Rates> = {
  '~standard': { version: 1, validate: (value) => ({ value: value as Rates }) },
};
const prices = async (): Promise<ReadonlyMap<string, number>> => new Map([['apple', 1]]);
const guarded = [
  new RefreshingValue({ name: 'prices', load: prices, accept: every((v) => v.size > 0) }).current.size,
  new RefreshingValue({ name: 'prices', load: prices, accept: growsAtMost(2, { sizeOf: (v) => v.size }) })
    .current.size,
  new RefreshingCache({
    name: 'names',
    load: async (code: string) => [code],
    accept: changesAtMost(0.5, { sizeOf: (v) => v.length }),
  }).current('a').length,
  new RefreshingValue({
    name: 'checked',
    load: async (): Promise<unknown> => ({ euro: 1 }),
    schema: checked,
    accept: every((v) => v.euro > 0),
  }).current.euro,
  // @ts-expect-error a Map has no length
  new RefreshingValue({ name: 'prices', load: prices, accept: every((v) => v.length > 0) }),
  // @ts-expect-error an array has no size
  new RefreshingCache({ name: 'c', load: async (code: string) => [code], accept: every((v) => v.size > 0) }),
  // @ts-expect-error the value is not that of previous
  new RefreshingValue({ name: 'v', load: async (_: LoadContext<string>) => 5 }),
  refreshing(prices, { accept: every((v) => v.size > 0) }).current.size,
  refreshing(async (code: string) => [code], { accept: shrinksAtMost(0.3, { sizeOf: (v) => v.length }) }),
  // @ts-expect-error a Map has no length
  refreshing(prices, { accept: every((v) => v.length > 0) }),
  new RefreshingValue<ReadonlyMap<string, number>>({
    name: 'v',
    load: prices,
    // @ts-expect-error the same
    accept: every((v) => v.length > 0),
  }),
  // @ts-expect-error a guard of another type
  new RefreshingValue({ name: 'prices', load: prices, accept: every((v: string) => v.length > 0) }),
  // @ts-expect-error guards leave the value as the load returns it
  new RefreshingValue({ name: 'v', load: prices, accept: every((v) => v.size > 0) }).current.length,
] as const;

const keyed = [
  new RefreshingCache({ name: 'c', load: ({ id }: { id: string }) => id, keyOf: ({ id }) => id }).current({
    id: 'a',
  }).length,
  // @ts-expect-error objects as keys need keyOf
  new RefreshingCache({ name: 'c', load: (key: { id: string }) => key.id }),
] as const;

class Hourly extends PeriodicExecutor {
  protected override nextExecuteTime(execution: Execution): number {
    return execution.endedAt + 3_600_000;
  }
}

export const used = [
  inferred,
  current,
  wrong,
  euro,
  guarded,
  keyed,
  Hourly,
  cron('0 5 * * *'),
  dailyAt('05:00'),
  isTicklessError,
  isWorkerError,
  publishDiagnostics,
] as const;
