import type { Facts } from './facts.ts';

/** Given, not imported: this room is a chunk of its own, and bundlers without chunks wrap all that such a one imports. */
export type ShowDuration = (ms: number) => string;

/** A combination of options that works, and will hurt one day. */
export interface Rule {
  readonly kind: AdviceKind;
  applies(facts: Facts): boolean;
  /** The harm, and the line to write. @param show a duration for people. */
  text(facts: Facts, show: ShowDuration): string;
}

/** Stable names of the rules, for a program that leaves some out. */
export type AdviceKind =
  | 'staleness-near-schedule'
  | 'freshness-below-schedule'
  | 'revocation-list-served'
  | 'no-deadline-in-line';

/** Less room than this share of the schedule is used up by one failed reload. */
const LEAST_ROOM = 0.25;

/** Names of lists of what is not allowed any longer. */
const REVOKED = /revoked|revocation|(?:block|deny|black)[-_ ]?list|(?<![a-z])crls?(?![a-z])/i;

export const RULES: readonly Rule[] = [
  {
    kind: 'staleness-near-schedule',
    applies: ({ kind, periodMs, options: { maxStalenessMs, whenTooStale } }) =>
      kind !== 'executor' && whenTooStale !== 'serve' && maxStalenessMs < periodMs * (1 + LEAST_ROOM),
    text: ({ periodMs, options: { maxStalenessMs, whenTooStale } }, show) => {
      const room = show(maxStalenessMs - periodMs);
      const reads = whenTooStale === 'wait' ? 'wait' : 'are refused';
      return `maxStaleness leaves ${room} after the schedule of ${show(periodMs)}: reads ${reads} after one failed reload. Write maxStaleness: ${written(periodMs * 3)}`;
    },
  },
  {
    kind: 'freshness-below-schedule',
    applies: ({ periodMs, options: { freshness } }) =>
      freshness !== undefined && freshness.withinMs < periodMs,
    text: ({ periodMs, options: { freshness } }, show) => {
      const within = freshness?.withinMs ?? 0;
      return `freshness.within of ${show(within)} is shorter than the schedule of ${show(periodMs)}: reads miss it although all loads succeed. Write schedule: ${written(Math.ceil(within / 2))}`;
    },
  },
  {
    kind: 'revocation-list-served',
    applies: ({ kind, name, options: { whenTooStale }, statedMaxStalenessMs }) => {
      const isServed =
        whenTooStale === 'serve' || (whenTooStale === 'wait' && statedMaxStalenessMs === Infinity);
      return kind !== 'executor' && isServed && REVOKED.test(name);
    },
    text: () =>
      "by its name a list of what is revoked, and reads are served it however old it is. Write maxStaleness: { hours: 1 }, whenTooStale: 'throw'",
  },
  {
    kind: 'no-deadline-in-line',
    applies: ({ isInLine, options: { timeoutMs } }) => isInLine && timeoutMs === Infinity,
    text: () =>
      'a load without a deadline that hangs keeps its place in maxConcurrentLoads of the group, and other members wait for it. Write timeout: { seconds: 30 }',
  },
];

const UNITS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1000],
] as const;

/** The duration as options take it. */
function written(ms: number): string {
  const unit = UNITS.find(([, length]) => ms % length === 0);
  return unit === undefined ? String(ms) : `{ ${unit[0]}: ${ms / unit[1]} }`;
}
