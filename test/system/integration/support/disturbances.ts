import { setTimeout as sleep } from 'node:timers/promises';
import type { Disturbance } from './marked.ts';
import type { FaultProxy } from './proxy.ts';

const CALM_MS = [300, 2000] as const;
const GUST_MS = [20, 400] as const;
const LONGEST_DELAY_MS = 200;
/** For that long, in milliseconds, may what one process sends be under way. */
export const LONGEST_GUST_MS: number = GUST_MS[1] + 2 * LONGEST_DELAY_MS;
/** Clients connect again within this time. */
const CONNECTS_MS = 100;

const between = ([least, most]: readonly [number, number]): number => least + Math.random() * (most - least);
const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

/** What is done to the way of one process, for a while. Resolves with how much longer what was sent meanwhile may be under way. */
const GUSTS: readonly ((proxy: FaultProxy) => Promise<number>)[] = [
  async (proxy) => {
    const delayMs = Math.random() * LONGEST_DELAY_MS;
    proxy.latency(delayMs);
    await sleep(between(GUST_MS));
    return 2 * delayMs;
  },
  async (proxy) => {
    proxy.cut();
    return CONNECTS_MS;
  },
  async (proxy) => {
    await proxy.dropReplies(1);
    return CONNECTS_MS;
  },
  async (proxy) => {
    proxy.partition();
    await sleep(between(GUST_MS));
    return 0;
  },
];

/** Delays, cuts, lost answers and silence on the way of each process, until the signal, at any time between calm. */
export async function disturb(
  proxies: readonly FaultProxy[],
  told: Disturbance[],
  signal: AbortSignal,
): Promise<void> {
  const gusts = proxies.map(async (proxy, by) => {
    while (!signal.aborted) {
      await sleep(between(CALM_MS));
      const gust = GUSTS[Math.floor(Math.random() * GUSTS.length)] as (typeof GUSTS)[number];
      const disturbance = { by, from: monotonic(), to: Infinity };
      told.push(disturbance);
      const restMs = await gust(proxy);
      proxy.heal();
      disturbance.to = monotonic() + restMs;
    }
  });
  await Promise.all(gusts);
}
