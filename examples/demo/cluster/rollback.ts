import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../child.ts';
import type { OriginReport } from '../reports.ts';
import { seconds } from '../view.ts';
import type { Cluster } from './cluster.ts';
import type { Member } from './member.ts';
import { GOOD_EDITION, mended, withoutCities } from './script.ts';
import { PINNED_FOR_MS } from './settings.ts';

/** What became of the rollback. Durations in milliseconds. */
export interface Rollback {
  /** The number of the instance at which it was done. */
  readonly operator: number;
  /** From when the store had it to when all instances served it. */
  readonly everywhereAfter: number;
  /** How long it was pinned. */
  readonly pinnedFor: number;
  /** Loads in that time. */
  readonly loads: number;
  /** From when it was unpinned to when all instances served the next edition. */
  readonly recoveredAfter: number;
}

/**
 * A bad edition passes the guard, and all instances serve it. An operator puts the one before back into place, at one
 * instance. When the origin is mended another operator ends the pin, at another instance.
 */
export async function rollback(
  cluster: Cluster,
  origin: Child<OriginReport>,
  signal: AbortSignal,
): Promise<Rollback> {
  const { events, news, members, rounds } = cluster;
  const [another, operator] = [members[0], members.at(-1)] as [Member, Member];
  const told = async (type: string, by: Member): Promise<void> => {
    for (let from: Member | undefined; from !== by; ) [from] = await once(events, type, { signal });
  };

  origin.send({ script: [withoutCities], seconds: 0, repeat: false });
  news.add(`the origin has edition ${withoutCities.edition}: complete, but no cities`);
  await cluster.untilAllServe(withoutCities.edition, signal);
  news.add(`the guard accepts it: all serve edition ${withoutCities.edition}`);
  await once(events, 'published', { signal }); // the next load begins after the rollback

  news.add(`instance ${operator.number}: ann puts edition ${GOOD_EDITION} back, and pins it`);
  const note = `edition ${withoutCities.edition} has no cities`;
  const to = cluster.versions.get(GOOD_EDITION) ?? 0;
  operator.carryOut({ kind: 'rollback', options: { to, by: 'ann', note } });
  await told('published', operator);
  const publishedAt = performance.now();
  await cluster.untilAllServe(GOOD_EDITION, signal);
  const everywhereAfter = performance.now() - publishedAt;
  news.add(`all serve edition ${GOOD_EDITION}, ${seconds(everywhereAfter)} after the store had it`);

  const loadsBefore = rounds.loads;
  origin.send({ script: [mended], seconds: 0, repeat: false });
  news.add(`the origin is mended, and has edition ${mended.edition}`);
  await sleep(PINNED_FOR_MS, undefined, { signal });
  const loads = rounds.loads - loadsBefore;
  const pinnedFor = performance.now() - publishedAt;

  const unpinnedAt = performance.now();
  news.add(`instance ${another.number}: unpin, after ${seconds(pinnedFor)} with ${loads} loads`);
  another.carryOut({ kind: 'unpin' });
  await cluster.untilAllServe(mended.edition, signal);
  const recoveredAfter = performance.now() - unpinnedAt;
  news.add(`all serve edition ${mended.edition}, ${seconds(recoveredAfter)} after that`);
  return { operator: operator.number, everywhereAfter, pinnedFor, loads, recoveredAfter };
}
