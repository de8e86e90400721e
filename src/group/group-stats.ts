import { type Counted, Counters } from '../observe/counters.ts';
import { type MemberStats, memberStats } from '../observe/stats.ts';
import type { Member } from './member.ts';

/** The counters of the members of a group, since each was made. A copy: it does not change. */
export interface GroupStats {
  /** All members together. Those that were closed one by one are not in it. */
  readonly total: MemberStats;
  /** Each member, in the order in which they were made. */
  readonly members: readonly (MemberStats & { readonly name: string })[];
}

export function groupStats(all: readonly Member[]): GroupStats {
  const total = new Counters();
  const members = all.map(({ name, engine: { events } }) => {
    add(events.counters, total);
    return Object.freeze({ name, ...memberStats(events.counters) });
  });
  return Object.freeze({ total: memberStats(total), members: Object.freeze(members) });
}

function add(counters: Counters, total: Counters): void {
  for (const name of NUMBERS) total[name] += counters[name];
  for (const [type, count] of Object.entries(counters.counts)) total.count(type as Counted, count);
  for (const [code, count] of Object.entries(counters.readsFailed)) total.readFailed(code, count);
  const { loading } = counters;
  for (const [bucket, count] of loading.counts.entries()) {
    total.loading.counts[bucket] = (total.loading.counts[bucket] ?? 0) + count;
  }
  total.loading.total += loading.total;
  total.loading.longest = Math.max(total.loading.longest, loading.longest);
}

const NUMBERS = ['reads', 'misses', 'waited', 'bytesPublished', 'lockCommands', 'storeCommands'] as const;
