import type { CacheStatus } from '../cache/cache-status.ts';
import { isOfBackup } from '../data/backup.ts';
import { OUTCOMES } from '../data/execution-record.ts';
import type { MemberCounts } from '../observe/counters.ts';
import { ROUND_OUTCOMES } from '../observe/events.ts';
import type { ValueStatus } from '../value/value-status.ts';

/** A value, an executor or a cache: each has a part of these. */
export type MemberStatus = Partial<ValueStatus<unknown>> &
  Partial<CacheStatus> & { readonly name: string; readonly counts: MemberCounts };

/** The samples of a metric of one member, with the labels beside its name; `undefined`: it has none. */
type Samples = readonly (readonly [number | undefined, Readonly<Record<string, string>>?])[];

/** A metric, and how the state of a member has its samples. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly of: (member: MemberStatus) => Samples;
}

const one = (of: (member: MemberStatus) => number | boolean | undefined): Metric['of'] => {
  return (member) => {
    const value = of(member);
    return [[value === undefined ? undefined : Number(value)]];
  };
};

const finite = (ms: number | undefined): number | undefined =>
  ms === undefined || ms === Infinity ? undefined : ms / 1000;

export const GAUGES: readonly Metric[] = [
  {
    name: 'tickless_value_age_seconds',
    help: 'Age of the value that is served, from the end of its load.',
    of: one(({ age }) => finite(age)),
  },
  {
    name: 'tickless_value_max_staleness_seconds',
    help: 'Age beyond which a value is too stale (maxStaleness).',
    of: one(({ maxStaleness }) => finite(maxStaleness)),
  },
  {
    name: 'tickless_value_stale',
    help: '1: the value is due for a reload.',
    of: one(({ isStale }) => isStale),
  },
  {
    name: 'tickless_consecutive_failures',
    help: 'Failures in a row of a value or task, 0 after a success.',
    of: one(({ failures }) => failures),
  },
  {
    name: 'tickless_cache_keys',
    help: 'Values that a cache holds.',
    of: one(({ size }) => size),
  },
  {
    name: 'tickless_cache_failing_keys',
    help: 'Keys of a cache whose last load failed.',
    of: one(({ failing }) => failing),
  },
  {
    name: 'tickless_served_by_backup',
    help: 'Values that are served and that the first source of firstOf has not made: 0 or 1, of a cache its keys.',
    of: one(({ state, meta, size, backups = 0 }) => {
      return size === undefined ? state && isOfBackup(meta) : backups;
    }),
  },
  {
    name: 'tickless_paused',
    help: '1: the member is paused and starts no loads.',
    of: one(({ paused }) => paused),
  },
  {
    name: 'tickless_backend_down',
    help: '1: the lock or the store of the member did not answer the last time.',
    labels: ['backend'],
    of: ({ lock }) =>
      lock === undefined
        ? []
        : [
            [Number(lock.lockError !== undefined), { backend: 'lock' }],
            [Number(lock.storeError !== undefined), { backend: 'store' }],
          ],
  },
];

export const COUNTERS: readonly Metric[] = [
  {
    name: 'tickless_reads_total',
    help: 'Reads of the value, or of all keys of the cache.',
    of: one(({ counts }) => counts.reads),
  },
  {
    name: 'tickless_read_misses_total',
    help: 'Reads that found no value in place.',
    of: one(({ counts }) => counts.misses),
  },
  {
    name: 'tickless_reads_waited_total',
    help: 'Reads that waited for a load.',
    of: one(({ counts }) => counts.waited),
  },
  {
    name: 'tickless_reads_failed_total',
    help: 'Reads that were refused, by the code of the error. Not those of absent keys.',
    labels: ['code'],
    of: ({ counts }) => Object.entries(counts.readsFailed).map(([code, count]) => [count, { code }]),
  },
  {
    name: 'tickless_stale_served_total',
    help: 'Reads that were served a value that was due.',
    of: one(({ counts }) => counts['stale-served']),
  },
  {
    name: 'tickless_too_stale_total',
    help: 'Reads that found a value older than maxStaleness.',
    of: one(({ counts }) => counts['too-stale']),
  },
  {
    name: 'tickless_loads_total',
    help: 'Executions that have ended here, with all their tries, by their outcome.',
    labels: ['outcome'],
    of: ({ counts }) => OUTCOMES.map((outcome) => [counts[outcome], { outcome }]),
  },
  {
    name: 'tickless_rounds_total',
    help: 'Steps of rounds in the cluster, by their outcome.',
    labels: ['outcome'],
    of: ({ counts }) => ROUND_OUTCOMES.map((outcome) => [counts[outcome], { outcome }]),
  },
  {
    name: 'tickless_published_bytes_total',
    help: 'Bytes that were written to the store.',
    of: one(({ counts }) => counts.bytes),
  },
  {
    name: 'tickless_backend_commands_total',
    help: 'Commands to the lock and the store.',
    labels: ['backend'],
    of: ({ counts: { lockCommands, storeCommands } }) => [
      [lockCommands, { backend: 'lock' }],
      [storeCommands, { backend: 'store' }],
    ],
  },
  {
    name: 'tickless_evicted_total',
    help: 'Values that left a full cache.',
    of: one(({ counts }) => counts.evicted),
  },
];
