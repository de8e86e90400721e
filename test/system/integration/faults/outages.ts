import { setTimeout as sleep } from 'node:timers/promises';
import { monotonic } from './messages.ts';
import {
  begin,
  COOL_DOWN,
  INSTANCES,
  type Judge,
  LEASE,
  LOAD,
  loadStarted,
  PERIOD,
  publications,
  quiet,
  type ServedStage,
  STEP_TIMEOUT,
} from './scenario.ts';

/** With what becomes of loads when the lock can't be asked; a quick run takes the first ones. */
const OUTAGES = [
  ['stopped', 'skip'],
  ['killed', 'load'],
  ['emptied', 'skip'],
  ['stopped', 'load'],
  ['killed', 'skip'],
  ['emptied', 'load'],
] as const;

/** All have waited for the lease that they saw under way, have asked in vain, twice, and have loaded without the lock. */
const SHORTEST_MS = LEASE + PERIOD + 2 * STEP_TIMEOUT;

type Outage = (typeof OUTAGES)[number];

/** The server stands still, is killed and started again, is started again without its data. */
export async function outages(stage: ServedStage, judge: Judge): Promise<void> {
  const heard: ServedStage['fleet']['heard'] = [];
  const resumed: number[] = [];
  const served: number[] = [];
  const noRefresh: string[] = [];
  for (const [what, policy] of OUTAGES.slice(0, stage.count(2 * OUTAGES.length))) {
    const spans = await outage(stage, what, policy);
    const told = [spans.lasted, spans.resumed, spans.served].map(ms).join(', ');
    judge.tell(`${what}, ${policy}: lasted; published, all six after`, told);
    resumed.push(Math.max(0, spans.resumed - spans.lasted));
    served.push(Math.max(0, spans.served - spans.lasted));
    // But the one that was at it when the server went.
    if (policy === 'load' && spans.unleased < INSTANCES - 1)
      noRefresh.push(`${what}: ${spans.unleased} loads`);
    heard.push(...stage.fleet.heard);
  }
  judge.rounds(stage, undefined, heard);
  judge.none('outages without a refresh (load)', noRefresh);
  // The pauses between probes double from a second: a pause is no longer than the outage before it, and a second.
  judge.within('published again after, beyond the length of the outage', resumed, COOL_DOWN);
  judge.within('all six have it after, beyond the length of the outage', served, COOL_DOWN + PERIOD);
}

const ms = (span: number): string => `${span.toFixed(0)} ms`;

async function outage(
  stage: ServedStage,
  what: Outage[0],
  whenBackendDown: Outage[1],
): Promise<{
  readonly lasted: number;
  readonly resumed: number;
  readonly served: number;
  readonly unleased: number;
}> {
  const { fleet, server } = stage;
  await begin(stage, { whenBackendDown });
  const duration = Math.max(stage.count(10) * 1000, SHORTEST_MS);
  await loadStarted(fleet);
  await sleep((LOAD[0] + LOAD[1]) / 4); // it has not ended yet, or is just being published
  if (what === 'stopped') server.freeze();
  else await server.kill();
  const begunAt = monotonic();
  await sleep(duration);
  let published = publications(fleet, 1);
  published.catch(() => {});
  if (what === 'stopped') server.thaw();
  else await server.restart({ empty: what === 'emptied' });
  const returnedAt = monotonic();
  const first = await published;
  const token = first.kind === 'event' ? (first.version ?? 0) : 0;
  await Promise.all(
    fleet.numbers.map(async (by) => {
      const has = fleet.heard.some((told) => told.by === by && told.kind === 'saw' && told.token >= token);
      if (!has) {
        await fleet.until((told) => told.by === by && told.kind === 'saw' && told.token >= token, 20_000);
      }
    }),
  );
  const served = monotonic() - returnedAt;
  published = publications(fleet, 1);
  await published;
  await quiet();
  const unleased = fleet.heard.filter(
    (told) => told.kind === 'load-started' && told.token === 0 && told.at > begunAt && told.at < returnedAt,
  ).length;
  await fleet.end();
  return { lasted: returnedAt - begunAt, resumed: first.at - returnedAt, served, unleased };
}
