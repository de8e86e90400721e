import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultProxy, startProxy } from '../support/proxy.ts';
import type { Heard } from './fleet.ts';
import { monotonic } from './messages.ts';
import { median } from './rounds.ts';
import { begin, type Judge, publications, type ServedStage } from './scenario.ts';

const STORM_MS = 5000;
/** Each instance meets something else this often, in milliseconds. */
const GUST_MS = [100, 500] as const;
const LONGEST_DELAY_MS = 1500;
/** All six serve what was loaded after the storm. */
const FRESH_WITHIN_MS = 8000;
/** A storm that does not end in this time counts with it. */
const LOST_MS = 30_000;

const GUSTS: readonly ((proxy: FaultProxy) => unknown)[] = [
  (proxy) => proxy.latency(Math.random() * LONGEST_DELAY_MS),
  (proxy) => proxy.cut(),
  (proxy) => proxy.loseReplies({ then: 'cut' }),
  (proxy) => proxy.loseReplies({ then: 'silence' }),
  (proxy) => proxy.partition(),
  (proxy) => proxy.heal(),
];

/** Each instance has a way of its own to the server, on which answers are late, are lost, or end with the connection. */
export async function storms(stage: ServedStage, judge: Judge): Promise<void> {
  const { fleet, server } = stage;
  const proxies = await Promise.all(fleet.numbers.map(() => startProxy(server)));
  await begin(stage, {}, (by) => proxies[by]?.url as string);
  const fresh: number[] = [];
  const shared: number[] = [];
  for (let left = stage.count(20); left > 0; left--) {
    await Promise.all(proxies.map(blow));
    for (const proxy of proxies) proxy.heal();
    const calmAt = monotonic();
    const all = (isGood: (token: number) => boolean): Promise<number> =>
      Promise.all(
        fleet.numbers.map((by) =>
          fleet.until(
            (told) => told.by === by && told.kind === 'saw' && told.stamp >= calmAt && isGood(told.token),
            LOST_MS,
          ),
        ),
      ).then(
        () => monotonic() - calmAt,
        () => LOST_MS,
      );
    const spans = await Promise.all([all(() => true), all((token) => token > 0)]);
    fresh.push(spans[0]);
    shared.push(spans[1]);
    await publications(fleet, 2);
  }
  await fleet.end();
  await Promise.all(proxies.map((proxy) => proxy.close()));
  // A load without a lease has no version. A snapshot whose write was on its way for a second seems that much younger than it.
  const isOfUnleased = (told: Heard): boolean =>
    told.kind === 'went-back' && told.what.startsWith('from token 0 ');
  judge.rounds(
    stage,
    undefined,
    fleet.heard.filter((told) => !isOfUnleased(told)),
  );
  judge.tell('storms', fresh.length);
  judge.spans('all six are fresh after', fresh, FRESH_WITHIN_MS);
  judge.tell('by a shared load after, median', `${(median(shared) ?? Number.NaN).toFixed(0)} ms`);
  judge.tell('by a shared load after, longest', `${Math.max(...shared).toFixed(0)} ms`);
}

async function blow(proxy: FaultProxy): Promise<void> {
  const [least, most] = GUST_MS;
  for (const endAt = monotonic() + STORM_MS; monotonic() < endAt; ) {
    GUSTS[Math.floor(Math.random() * GUSTS.length)]?.(proxy);
    await sleep(least + Math.random() * (most - least));
  }
}
