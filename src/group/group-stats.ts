import { Counters } from '../observe/counters.ts';
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
  const members = all.map(({ name, refresher: { events } }) => {
    total.add(events.counters);
    return Object.freeze({ name, ...memberStats(events.counters) });
  });
  return Object.freeze({ total: memberStats(total), members: Object.freeze(members) });
}
