import { setTimeout as sleep } from 'node:timers/promises';
import type { Candidate, Opened } from './candidates/candidate.ts';

/** The behaviour of one candidate, as counts. */
export interface Behaviour {
  readonly name: string;
  /** Loads while the source was down and 40 reads were made, each due. */
  readonly outageLoads: number;
  /** The number of those reads that returned the value. */
  readonly outageServed: number;
  /**
   * The most loads at one time when a load takes 600 ms and the period is 100 ms; `undefined`: it does not support that
   * period.
   */
  readonly overlappingLoads: number | undefined;
  /** Loads for 10 first reads at once with the source down. */
  readonly firstReadLoads: number;
}

const READS = 40;
const FIRST_READS = 10;

/** The candidates run concurrently: they wait for timers nearly all the time. */
export function observeBehaviour(candidates: readonly Candidate[]): Promise<Behaviour[]> {
  return Promise.all(
    candidates.map(async (candidate) => ({
      name: candidate.name,
      ...(await outage(candidate)),
      overlappingLoads: await overlap(candidate),
      firstReadLoads: await firstReads(candidate),
    })),
  );
}

async function outage({
  open,
  leastPeriodMs = 20,
}: Candidate): Promise<Pick<Behaviour, 'outageLoads' | 'outageServed'>> {
  let isDown = false;
  let outageLoads = 0;
  const cache = open(async () => {
    if (isDown) outageLoads += 1;
    await sleep(1);
    if (isDown) throw new Error('source is down');
    return 1;
  }, leastPeriodMs);
  await cache.read();
  isDown = true;
  await sleep(leastPeriodMs);
  let outageServed = 0;
  for (let i = 0; i < READS; i++) {
    await sleep(25); // past the period, so that each read is due
    if ((await settled(cache)) === 1) outageServed += 1;
  }
  return { outageLoads, outageServed };
}

async function overlap({ open, leastPeriodMs = 1 }: Candidate): Promise<number | undefined> {
  const periodMs = 100;
  if (leastPeriodMs > periodMs) return undefined;
  let running = 0;
  let most = 0;
  const cache = open(async () => {
    running += 1;
    most = Math.max(most, running);
    await sleep(600);
    running -= 1;
    return 1;
  }, periodMs);
  await cache.read();
  const end = performance.now() + 2500;
  while (performance.now() < end) {
    cache.read().catch(() => {});
    await sleep(20);
  }
  return most;
}

async function firstReads({ open }: Candidate): Promise<number> {
  let loads = 0;
  const cache = open(async () => {
    loads += 1;
    await sleep(20);
    throw new Error('source is down');
  }, 1000);
  await Promise.all(Array.from({ length: FIRST_READS }, () => settled(cache)));
  return loads;
}

async function settled({ read }: Opened): Promise<unknown> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}
