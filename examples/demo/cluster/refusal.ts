import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../child.ts';
import type { OriginReport } from '../reports.ts';
import type { Cluster } from './cluster.ts';
import { GOOD_EDITION, half } from './script.ts';
import { REFUSALS } from './settings.ts';

/** What became of the edition that the guard refuses. */
export interface Refusal {
  /** How often it was loaded, by all instances together. */
  readonly count: number;
  /** As an instance that has loaded it says in `inspect()`. */
  readonly reason: string;
}

/** The origin loses half of its codes: the guard refuses that edition, and all instances go on with the one before it. */
export async function refusal(
  cluster: Cluster,
  origin: Child<OriginReport>,
  signal: AbortSignal,
): Promise<Refusal> {
  const { events, news, members } = cluster;
  await cluster.untilAllServe(GOOD_EDITION, signal);
  origin.send({ script: [half], seconds: 0, repeat: false });
  news.add(`the origin has edition ${half.edition}: half of the codes`);
  while (cluster.refusals < REFUSALS) await once(events, 'value-rejected', { signal });

  const refused = () => members.flatMap(({ report }) => report?.refused ?? [])[0];
  let reason = refused();
  for (; reason === undefined; reason = refused()) await sleep(100, undefined, { signal });
  const isGoodEverywhere = members.every(({ edition }) => edition === GOOD_EDITION);
  news.add(
    isGoodEverywhere ? `all go on with edition ${GOOD_EDITION}` : 'an instance serves another edition',
  );
  return { count: cluster.refusals, reason };
}
