// One instance of the cluster: answers look-ups from memory, and shares what it loads. A process of its own.

import { isTicklessError, RefreshGroup, type TicklessEvent } from 'tickless';
import { every, notEmpty, shrinksAtMost } from 'tickless/guards';
import { mountConsole } from '../console.ts';
import { endWithParent, tell } from '../in-child.ts';
import { LookUps } from '../look-ups.ts';
import { type PostalCodes, postalCodesFrom } from '../postal-codes.ts';
import { REPORT_EVERY_MS } from '../reports.ts';
import { backendIn, connect } from './database.ts';
import { type InstanceEvent, type InstanceReport, type Order, TOLD } from './reports.ts';
import { MAY_SHRINK_BY, PERIOD_MS, PROPAGATE_WITHIN_MS } from './settings.ts';

const [, , originUrl = '', databaseUrl = '', leaseMs] = process.argv;
const client = connect(databaseUrl);
const byCodes = { sizeOf: ({ places }: PostalCodes) => places.size };
const group = new RefreshGroup({ name: 'demo' });
const postalCodes = postalCodesFrom(originUrl, {
  group,
  required: true,
  schedule: PERIOD_MS,
  propagateWithin: PROPAGATE_WITHIN_MS,
  accept: every(notEmpty(byCodes), shrinksAtMost(MAY_SHRINK_BY, byCodes)),
  backend: backendIn(client, Number(leaseMs)),
});
const lookUps = new LookUps(postalCodes, () => postalCodes.inspect().lock?.version);

for (const type of TOLD) {
  postalCodes.on(type, (event) => {
    if (event.type === 'load-failed' && isToldElsewhere(event.error)) return;
    tell<never, InstanceEvent>({ kind: 'event', event: { type, token: tokenOf(event), ...more(event) } });
  });
}

/** `lease-lost` or `value-rejected` tells it. */
function isToldElsewhere(error: Error): boolean {
  return isTicklessError(error, 'LEASE_LOST') || isTicklessError(error, 'REFUSED');
}

function more(event: TicklessEvent): Pick<InstanceEvent, 'edition' | 'version' | 'sizes'> {
  if (event.type === 'changed') return { edition: (event.value as PostalCodes).edition };
  if (event.type === 'published') return { edition: postalCodes.peek()?.edition, version: event.version };
  return event.type === 'value-rejected' ? { sizes: [event.size, event.previousSize] } : {};
}

function tokenOf(event: TicklessEvent): number | undefined {
  if ('token' in event) return event.token;
  const { lock } = postalCodes.inspect();
  // A round that has found the same edition confirms the version before.
  if (event.type === 'published' && lock?.isHolder) return lock.token;
  if ('version' in event) return event.version;
  return lock?.isHolder ? lock.token : undefined;
}

process.on('message', async (order: Order) => {
  if (order.kind === 'rollback') await postalCodes.rollback(order.options);
  else await postalCodes.unpin();
});
endWithParent();
const begunAt = performance.now();
await group.ready({ timeout: Infinity }); // what is in the store, or a load, before the first reader comes
const firstValueAfter = performance.now() - begunAt;
const isFirstAdopted = lookUps.reloads.counts.started === 0;

function report(): InstanceReport {
  const { value, running, age = 0, lock, refused, pinned } = postalCodes.inspect();
  return {
    loads: lookUps.reloads.counts,
    running,
    isHolder: lock?.isHolder ?? false,
    version: lock?.version,
    age,
    edition: value?.edition ?? 0,
    refused: refused?.reason,
    pinned: pinned && `${pinned.by}: ${pinned.note}`,
    oldestServed: lookUps.oldestServed,
    waits: lookUps.waits.read(),
    waited: lookUps.waited,
    firstValueAfter,
    isFirstAdopted,
  };
}

mountConsole(lookUps.app, group);
const port = await lookUps.listen(0);
const tellReport = (): void => tell<InstanceReport, never>({ kind: 'report', report: report() });
tellReport();
setInterval(tellReport, REPORT_EVERY_MS);
tell({ kind: 'listening', port });
