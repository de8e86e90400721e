// The service: answers look-ups from memory while the data reloads behind them. A process of its own.

import { RefreshGroup } from 'tickless';
import { mountConsole } from './console.ts';
import { endWithParent, tell } from './in-child.ts';
import { LookUps } from './look-ups.ts';
import { postalCodesFrom } from './postal-codes.ts';
import { REPORT_EVERY_MS, type ServiceReport } from './reports.ts';

const [, , originUrl = '', port] = process.argv;
const group = new RefreshGroup({ name: 'demo' });
const postalCodes = postalCodesFrom(originUrl, {
  group,
  schedule: { seconds: 1 },
  timeout: { seconds: 2 },
});
const lookUps = new LookUps(postalCodes, () => postalCodes.peek()?.edition);

lookUps.app.get('/status', async () => {
  const { value, lastError, nextExecuteTime, ...status } = postalCodes.inspect();
  return {
    ...status,
    lastError: lastError?.message,
    nextExecuteTime: new Date(nextExecuteTime),
    edition: value?.edition,
    places: value?.places.size,
    loads: lookUps.reloads.counts,
  };
});

mountConsole(lookUps.app, group);

function report(): ServiceReport {
  const { value, state, running, age = 0, failures, lastError, nextExecuteTime } = postalCodes.inspect();
  return {
    loads: lookUps.reloads.counts,
    state,
    running,
    age,
    failures,
    lastError: lastError?.message,
    nextExecuteTime,
    edition: value?.edition ?? 0,
    oldestServed: lookUps.oldestServed,
    fresh: lookUps.fresh.read(),
    reloading: lookUps.reloading.read(),
  };
}

endWithParent();
await postalCodes.requestStart(); // load before the first reader comes
const listening = await lookUps.listen(Number(port));
setInterval(() => tell<ServiceReport, never>({ kind: 'report', report: report() }), REPORT_EVERY_MS);
tell({ kind: 'listening', port: listening });
