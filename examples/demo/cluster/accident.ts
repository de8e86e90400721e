import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { Member } from './member.ts';
import { GONE_FOR_MS, KILL_AFTER_MS, KILL_AT } from './settings.ts';

/** What became of the kill. Durations in milliseconds. */
export interface Accident {
  /** The number of the instance that was killed. */
  readonly victim: number;
  /** The number of the instance that took over. */
  readonly heir: number;
  /** From the kill to when another instance had the lease. */
  readonly tookOverAfter: number;
  /** From the kill to when the data that it was loading was there for all. */
  readonly madeUpAfter: number;
  /** How long the instance that was started again took to have its first value. */
  readonly firstValueAfter: number;
  /** That was what others had loaded. */
  readonly isFirstAdopted: boolean;
}

/** Kills an instance while it loads, waits until another has taken over, and starts it again. */
export async function accident(cluster: Cluster, seconds: number, signal: AbortSignal): Promise<Accident> {
  const { events, news } = cluster;
  await sleep(seconds * KILL_AT * 1000, undefined, { signal });
  const victim = await loading(cluster, signal);
  const tookOver = once(events, 'took-over', { signal }) as Promise<[Member]>;
  const killedAt = performance.now();
  news.add(`instance ${victim.number} is killed while it loads (kill -9)`);
  await victim.kill();

  const [heir] = await tookOver;
  const tookOverAfter = performance.now() - killedAt;
  await once(events, 'published', { signal });
  const madeUpAfter = performance.now() - killedAt;

  await sleep(killedAt + GONE_FOR_MS - performance.now(), undefined, { signal });
  news.add(`instance ${victim.number} is started again`);
  await victim.start();
  victim.beginTraffic();
  const { firstValueAfter = 0, isFirstAdopted = false } = victim.report ?? {};
  const source = isFirstAdopted ? 'what others have loaded' : 'what it has loaded';
  news.add(`instance ${victim.number} is back, and serves ${source}`);
  return {
    victim: victim.number,
    heir: heir.number,
    tookOverAfter,
    madeUpAfter,
    firstValueAfter,
    isFirstAdopted,
  };
}

/** An instance in the middle of a load. */
async function loading({ events, rounds }: Cluster, signal: AbortSignal): Promise<Member> {
  for (;;) {
    const [member] = (await once(events, 'load-started', { signal })) as [Member];
    const { completed } = rounds;
    await sleep(KILL_AFTER_MS, undefined, { signal });
    if (rounds.completed === completed) return member; // the load was not quicker than it should be
  }
}
