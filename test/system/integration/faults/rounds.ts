import type { Heard } from './fleet.ts';
import type { Reading } from './messages.ts';
import { stalePublishesOf } from './stale-publishes.ts';

/** One load under a lease. */
interface LeasedLoad {
  /** Grows with each lease, and is the engine's clock in microseconds when it was given. */
  readonly token: number;
  readonly by: number;
  readonly startedAt: number;
  endedAt: number | undefined;
  outcome: 'returned' | 'threw' | 'aborted' | undefined;
  publishedAt: number | undefined;
}

/** What came of a scenario, by what the instances have told. Durations in milliseconds. */
export interface Rounds {
  readonly loads: readonly LeasedLoad[];
  /** Of them, those whose result is in the store, in the order of their tokens. */
  readonly published: readonly LeasedLoad[];
  /** Loads without a lease. */
  readonly unleased: number;
  /** Published loads that began before the hold of the one before was over. */
  readonly doubles: number;
  /** Publications that reached the store after a newer one. */
  readonly stale: readonly string[];
  /** The longest time from when a version was in the store to when an instance served it, or a newer one. */
  readonly longestLag: number;
  readonly readErrors: readonly string[];
  readonly waits: readonly string[];
  readonly wentBack: readonly string[];
  readonly reading: Reading;
}

/** Longer than any machine lets a process wait. */
const STILL_MS = 2000;

/** By how much the two clocks may be told wrong. A second load of a round begins hundreds of milliseconds too early. */
const SLACK_MS = 50;

/**
 * @param period milliseconds from the end of a load to the next round.
 * @param isOneClock whether tokens are the time of one clock; `false`: each instance has its own.
 */
export function roundsOf(
  heard: readonly Heard[],
  numbers: readonly number[],
  period: number,
  isOneClock: boolean,
): Rounds {
  const loads = loadsOf(heard);
  const published = loads.filter((load) => load.publishedAt !== undefined);
  const what = (kind: 'read-failed' | 'read-waited' | 'went-back'): string[] =>
    heard.flatMap((told) => (told.kind === kind ? [`instance ${told.by}: ${told.what}`] : []));
  return {
    loads,
    published,
    unleased: heard.filter((told) => told.kind === 'load-started' && told.token === 0).length,
    doubles: doublesOf(heard, published, period, isOneClock),
    stale: stalePublishesOf(heard),
    longestLag: longestLagOf(heard, published, numbers),
    readErrors: what('read-failed'),
    waits: what('read-waited'),
    wentBack: what('went-back'),
    reading: readingOf(heard),
  };
}

function loadsOf(heard: readonly Heard[]): LeasedLoad[] {
  const loads = new Map<string, LeasedLoad>();
  for (const told of heard) {
    const { at, by } = told;
    if (told.kind === 'load-started' && told.token > 0) {
      const { token } = told;
      const open = { endedAt: undefined, outcome: undefined, publishedAt: undefined };
      loads.set(`${token} ${by}`, { token, by, startedAt: at, ...open });
    }
    if (told.kind === 'load-ended') {
      const load = loads.get(`${told.token} ${by}`);
      if (load !== undefined) Object.assign(load, { endedAt: at, outcome: told.outcome });
    }
    if (told.kind === 'event' && told.type === 'published') {
      const load = loads.get(`${told.version} ${by}`);
      if (load !== undefined) load.publishedAt = at;
    }
  }
  return [...loads.values()].sort((a, b) => a.token - b.token);
}

/**
 * The hold of a round ends a period after its load. A lease that the engine gave before that is one of the same round,
 * unless the one before had let its lease expire.
 */
function doublesOf(
  heard: readonly Heard[],
  published: readonly LeasedLoad[],
  period: number,
  isOneClock: boolean,
): number {
  // Tokens are the engine's clock; all that is told is on ours. The quickest answer tells best how the two differ.
  const offset = Math.min(...published.map(({ token, startedAt }) => startedAt - token / 1000));
  const tookOver = new Set(
    heard.flatMap((told) => (told.kind === 'event' && told.type === 'took-over' ? [told.token] : [])),
  );
  return published.filter(({ token, startedAt }, i) => {
    const before = published[i - 1]?.endedAt;
    const givenAt = isOneClock ? token / 1000 + offset : startedAt; // or somewhat before
    return before !== undefined && !tookOver.has(token) && givenAt < before + period - SLACK_MS;
  }).length;
}

function longestLagOf(
  heard: readonly Heard[],
  published: readonly LeasedLoad[],
  numbers: readonly number[],
): number {
  let longest = 0;
  const lastAt = heard.at(-1)?.at ?? 0;
  for (const by of numbers) {
    // An instance may have been started anew in between: what it served then is not what it was late with.
    const seen = heard.filter((told) => told.by === by && (told.kind === 'saw' || told.kind === 'ready'));
    for (const { token, publishedAt = 0 } of published) {
      const begun = seen.findLast((told) => told.kind === 'ready' && told.at <= lastAt);
      if (begun !== undefined && begun.at > publishedAt) continue;
      const sight = seen.find((told) => told.kind === 'saw' && told.token >= token);
      longest = Math.max(longest, (sight?.at ?? lastAt) - publishedAt);
    }
  }
  return longest;
}

function readingOf(heard: readonly Heard[]): Reading {
  const reading = { reads: 0, longestWait: 0, oldest: 0, longestLag: 0 };
  const reads = new Map<number, number>();
  for (const told of heard) {
    // Of a process that was started anew it is counted anew.
    if (told.kind === 'began') {
      reading.reads += reads.get(told.by) ?? 0;
      reads.delete(told.by);
    }
    if (told.kind !== 'reading') continue;
    reads.set(told.by, told.reading.reads);
    // A process that was stopped is no sign of noise.
    const isStill = told.reading.longestLag > STILL_MS;
    for (const figure of ['longestWait', 'oldest', 'longestLag'] as const) {
      if (figure === 'longestLag' && isStill) continue;
      reading[figure] = Math.max(reading[figure], told.reading[figure]);
    }
  }
  for (const count of reads.values()) reading.reads += count;
  return reading;
}

/** The one in the middle; `undefined` of none. */
export function median(numbers: readonly number[]): number | undefined {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
