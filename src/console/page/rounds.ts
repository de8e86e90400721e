import type { Detail } from '../detail.ts';

/** How a round ended, with its color in the style sheet. */
export const OUTCOMES = {
  loaded: { label: 'loaded here', color: '--ok' },
  kept: { label: 'nothing new', color: '--kept' },
  failed: { label: 'failed', color: '--bad' },
  adopted: { label: 'loaded by another instance', color: '--elsewhere' },
  operator: { label: 'by an operator', color: '--note' },
} as const;

/** A round, as far as the page knows it. */
export interface Round {
  /** When it ended, in epoch milliseconds. */
  readonly at: number;
  readonly outcome: keyof typeof OUTCOMES;
  /** Milliseconds; `undefined`: unknown. */
  readonly took: number | undefined;
  /** The instance, or the operator. */
  readonly by: string;
  readonly tookOver: boolean;
  readonly error: string | undefined;
}

/** At most as many. */
const MOST_ROUNDS = 40;

/**
 * The rounds by the events of this instance, and before those by the versions in the store; oldest first. Pure.
 *
 * @param now when the history was read.
 */
export function roundsOf(
  history: Detail['history'],
  events: Detail['events'],
  now: number,
): readonly Round[] {
  const heard: Round[] = [];
  const seen = new Set<number>();
  let tookOver = false;
  let elsewhere: string | undefined;
  for (const { type, at, duration: took, version, token, error, host } of events) {
    if (type === 'lease-acquired' && token !== undefined) seen.add(token);
    if (type === 'took-over') tookOver = true;
    if (type === 'lease-held-elsewhere' || type === 'round-done-elsewhere') elsewhere = host;
    if (version !== undefined) seen.add(version);
    const outcome = OUTCOME_OF[type];
    if (outcome === undefined) continue;
    const by = outcome === 'adopted' ? (elsewhere ?? 'another instance') : 'this instance';
    heard.push({ at, outcome, took, by, tookOver: tookOver && outcome !== 'adopted', error });
    tookOver = false;
  }
  const stored = history
    .filter(({ version, mark }) => !seen.has(version) && mark === undefined)
    .map(({ age, by, host }): Round => {
      const who = by === undefined ? (host ?? 'an instance') : by;
      const outcome = by === undefined ? 'adopted' : 'operator';
      return { at: now - age, outcome, took: undefined, by: who, tookOver: false, error: undefined };
    });
  return [...stored, ...heard].sort((a, b) => a.at - b.at).slice(-MOST_ROUNDS);
}

const OUTCOME_OF: Readonly<Record<string, keyof typeof OUTCOMES | undefined>> = {
  'load-succeeded': 'loaded',
  'load-kept': 'kept',
  'load-failed': 'failed',
  'load-timed-out': 'failed',
  'snapshot-adopted': 'adopted',
};
