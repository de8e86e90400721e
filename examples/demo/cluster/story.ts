import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../child.ts';
import type { OriginReport } from '../reports.ts';
import { type Accident, accident } from './accident.ts';
import type { Cluster } from './cluster.ts';
import { type Refusal, refusal } from './refusal.ts';
import { type Rollback, rollback } from './rollback.ts';
import { SCRIPT_OVER_AT } from './script.ts';

/** What befell the cluster. What is missing did not come to its end in time. */
export interface Story {
  readonly accident?: Accident;
  readonly refusal?: Refusal;
  readonly rollback?: Rollback;
}

/** Has it all happen, one after the other, until the signal. */
export async function play(
  cluster: Cluster,
  origin: Child<OriginReport>,
  seconds: number,
  signal: AbortSignal,
): Promise<Story> {
  const scriptOver = sleep(seconds * SCRIPT_OVER_AT * 1000);
  let story: Story = {};
  try {
    story = { ...story, accident: await accident(cluster, seconds, signal) };
    await scriptOver;
    story = { ...story, refusal: await refusal(cluster, origin, signal) };
    story = { ...story, rollback: await rollback(cluster, origin, signal) };
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return story;
}
