// One instance of the cluster: answers look-ups from memory, and shares what it loads. A process of its own.

import { isLeaseLostError, type TicklessEvent } from 'tickless';
import { endWithParent, tell } from '../in-child.ts';
import { LookUps } from '../look-ups.ts';
import { postalCodesFrom } from '../postal-codes.ts';
import { REPORT_EVERY_MS } from '../reports.ts';
import { connect, lockIn, storeIn } from './database.ts';
import { type InstanceEvent, type InstanceReport, TOLD } from './reports.ts';
import { PERIOD_MS } from './settings.ts';

const [, , originUrl = '', databaseUrl = ''] = process.argv;
const client = connect(databaseUrl);
const postalCodes = postalCodesFrom(originUrl, {
  schedule: PERIOD_MS,
  lock: lockIn(client),
  store: storeIn(client),
});
const lookUps = new LookUps(postalCodes, () => postalCodes.inspect().lock?.version);

for (const type of TOLD) {
  postalCodes.on(type, (event) => {
    if (event.type === 'load-failed' && isLeaseLostError(event.error)) return; // `lease-lost` has told it
    tell<never, InstanceEvent>({ kind: 'event', event: { type, token: tokenOf(event) } });
  });
}

function tokenOf(event: TicklessEvent): number | undefined {
  if ('token' in event) return event.token;
  if ('version' in event) return event.version;
  const { lock } = postalCodes.inspect();
  return lock?.isHolder ? lock.token : undefined;
}

endWithParent();
const begunAt = performance.now();
await postalCodes.requestStart(); // what is in the store, or a load, before the first reader comes
const firstValueAfter = performance.now() - begunAt;
const isFirstAdopted = lookUps.reloads.counts.started === 0;

function report(): InstanceReport {
  const { value, running, age = 0, lock } = postalCodes.inspect();
  return {
    loads: lookUps.reloads.counts,
    running,
    isHolder: lock?.isHolder ?? false,
    version: lock?.version,
    age,
    edition: value?.edition ?? 0,
    oldestServed: lookUps.oldestServed,
    waits: lookUps.waits.read(),
    waited: lookUps.waited,
    firstValueAfter,
    isFirstAdopted,
  };
}

const port = await lookUps.listen(0);
const tellReport = (): void => tell<InstanceReport, never>({ kind: 'report', report: report() });
tellReport();
setInterval(tellReport, REPORT_EVERY_MS);
tell({ kind: 'listening', port });
