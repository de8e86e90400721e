// What a user of the package writes. check-package.mjs type-checks a copy of it against the packed tarball, with
// `skipLibCheck: false`, under both module resolutions that matter.

import { cron, dailyAt, type Execution, isLoadError, PeriodicExecutor, RefreshingValue } from 'tickless';
import { publishDiagnostics } from 'tickless/diagnostics';
import { every, notEmpty, shrinksAtMost } from 'tickless/guards';
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
  Hourly,
  cron('0 5 * * *'),
  dailyAt('05:00'),
  isLoadError,
  isWorkerError,
  publishDiagnostics,
] as const;
