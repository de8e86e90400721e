import type { Latency } from '../reports.ts';
import type { Cluster } from './cluster.ts';

/** The traffic on all instances together, over all of their lives. */
export interface Totals {
  readonly reads: number;
  readonly unwanted: number;
  readonly timeouts: number;
  readonly broken: number;
  readonly lost: number;
  readonly wentBack: number;
  /** Requests that were under way when their instance was killed. */
  readonly cutOff: number;
  /** As the clients saw it, no load running at any time of the read. */
  readonly fresh: Latency;
  /** As the clients saw it, a load running at some time of the read. */
  readonly reloading: Latency;
  /** Reads of a value that was there. */
  readonly warmReads: number;
  /** How many of them had to wait for it. */
  readonly waited: number;
  /** How long the longest of them took, pauses of the process included, in milliseconds. */
  readonly longestWait: number;
  /** The age of the oldest value that was served, in milliseconds. */
  readonly oldestServed: number;
}

/** Adds up, once the traffic has been stopped. */
export async function totalsOf({ members, stopwatches }: Cluster): Promise<Totals> {
  const traffic = await Promise.all(members.flatMap((member) => member.traffic.map((one) => one.summary())));
  const reports = members.flatMap((member) => member.reports);
  return {
    reads: sum(traffic.map(({ reads }) => reads)),
    unwanted: sum(traffic.map(({ unwanted }) => unwanted)),
    timeouts: sum(traffic.map(({ timeouts }) => timeouts)),
    broken: sum(traffic.map(({ broken }) => broken)),
    lost: sum(traffic.map(({ lost }) => lost)),
    wentBack: sum(traffic.map(({ wentBack }) => wentBack)),
    cutOff: sum(members.map(({ cutOff }) => cutOff)),
    fresh: stopwatches.fresh.read(),
    reloading: stopwatches.reloading.read(),
    warmReads: sum(reports.map(({ waits }) => waits.count)),
    waited: sum(reports.map(({ waited }) => waited)),
    longestWait: Math.max(0, ...reports.map(({ waits }) => waits.max)),
    oldestServed: Math.max(0, ...reports.map(({ oldestServed }) => oldestServed)),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
