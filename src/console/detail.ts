import type { LockProvider, LockRecord } from '../cluster/lock-contract.ts';
import { instanceLabels } from '../data/instance-label.ts';
import { failureText } from '../errors.ts';
import type {
  ExecutionOutcome,
  ExecutionRecord,
  ExecutorRun,
  Fleet,
  GroupMember,
  MemberCounts,
  RefreshingCache,
  Trigger,
  ValueStatus,
  VersionRecord,
} from '../index.ts';
import type { FoundKeys } from './key-search.ts';
import { keyText, type ShownKey, shownKey } from './member-access.ts';
import type { Redact } from './redact.ts';
import { type HereStatus, hereOf, instancesOf } from './rows.ts';
import { type ShownError, shownError } from './shown-error.ts';
import type { ShownEvent } from './shown-event.ts';
import { shownMessage } from './shown-texts.ts';
import { type ShownDifference, type ShownValues, shownDifference, shownValue } from './shown-value.ts';

type Refused = NonNullable<ValueStatus<unknown>['refused']>;

/** A refused value, for the decision of an operator. */
interface ShownRefused extends Omit<Refused, 'differences'> {
  /** From the value before to the refused one; left out: they were not compared. */
  readonly difference?: ShownDifference;
}

/** A member in full, or one key of a cache. */
export interface Detail {
  /** Epoch milliseconds by the clock of this instance. */
  readonly at: number;
  readonly name: string;
  readonly kind: GroupMember['kind'];
  readonly key?: ShownKey | undefined;
  readonly here: HereStatus;
  readonly error?: ShownError | undefined;
  /** The loaded value that was refused last. */
  readonly refused?: ShownRefused | undefined;
  /** As `showValue` returns it, as JSON. */
  readonly value?: string | undefined;
  /** When changes of other instances were last known, and why they are not now. */
  readonly checks?:
    | { readonly checkedAt?: number | undefined; readonly error?: string | undefined }
    | undefined;
  /** The counts of this instance; left out of a key. */
  readonly counts?: MemberCounts | undefined;
  readonly backends: { readonly lock: boolean; readonly store: boolean };
  /** The record of the lock; left out: there is none. */
  readonly lock?: LockRecord | undefined;
  readonly lockError?: string | undefined;
  /** Newest first; empty: there are none. */
  readonly history: readonly VersionRecord[];
  readonly historyError?: string | undefined;
  /** Its last executions on all instances, newest first: see {@link executionsOf}. */
  readonly executions: readonly ShownExecution[];
  /** Why the runs of a task are not among them: its backend does not answer. */
  readonly runsError?: string | undefined;
  /** Those since a page was opened, oldest first. */
  readonly events: readonly ShownEvent[];
}

/**
 * Fills in what `inspect()` knows, and asks the lock and the store. Starts no load. Never rejects.
 *
 * @param readFleet what other instances have reported; `undefined`: not known.
 */
export async function detailOf(
  given: GroupMember,
  key: readonly [key?: unknown],
  events: readonly ShownEvent[],
  readFleet: () => Promise<Fleet | undefined>,
  values: ShownValues,
): Promise<Detail> {
  const { kind, name, member, lock, store } = given;
  const at = Date.now();
  const isKey = kind === 'cache' && key.length > 0;
  const status = isKey ? (member as RefreshingCache<unknown, unknown>).inspect(key[0]) : statusOf(given);
  const one: Partial<ValueStatus<unknown>> = status ?? {};
  const show = (message: string): string => shownMessage(message, values.redact);
  const about = { name, ...(isKey ? { key: key[0] } : {}) };
  const [record, versions, { value: runs, error: runsError }, fleet] = await Promise.all([
    settled(lockRecord(given, key)),
    settled(kind === 'value' && store !== undefined ? member.history() : undefined),
    settled(kind === 'executor' ? member.runs() : undefined),
    readFleet(),
  ]);
  return {
    at,
    name,
    kind,
    key: isKey ? shownKey(key[0], values.redact) : undefined,
    here: hereOf(isKey ? 'value' : kind, (status ?? NOTHING) as ValueStatus<unknown>, at, show),
    error: one.lastError && shownError(one.lastError, values.redact),
    refused: one.refused && shownRefused(one.refused, name, values),
    value: 'value' in one ? shownValue(one.value, about, values) : undefined,
    checks: one.checks && { checkedAt: one.checks.checkedAt, error: one.checks.error?.message },
    counts: isKey ? undefined : one.counts,
    backends: { lock: lock !== undefined, store: store !== undefined },
    lock: record.value,
    lockError: record.error,
    history: versions.value ?? [],
    historyError: versions.error,
    executions: executionsOf(given, key, { now: at, runs, fleet }, values.redact),
    runsError,
    events,
  };
}

function shownRefused({ differences, ...refused }: Refused, name: string, values: ShownValues): ShownRefused {
  if (differences === undefined) return refused;
  return { ...refused, difference: shownDifference(differences, name, values) };
}

/** The status of a key that the cache does not have. */
const NOTHING = { state: 'empty', failures: 0, nextExecuteTime: Infinity };

/** A key in the list of a cache. */
interface KeyRow extends ShownKey {
  readonly here: HereStatus;
}

/** The keys of a cache that contain a text. */
export interface KeyRows {
  readonly at: number;
  readonly size: number;
  readonly matching: number;
  /** How many keys were looked at, those that were used last: less than `size` where the cache is large. */
  readonly looked: number;
  readonly keys: readonly KeyRow[];
}

export function keyRows(
  cache: RefreshingCache<unknown, unknown>,
  { keys, matching, looked }: FoundKeys,
  redact: Redact,
): KeyRows {
  const at = Date.now();
  const show = (message: string): string => shownMessage(message, redact);
  const rows = keys.flatMap((key) => {
    const status = cache.inspect(key, { values: false });
    return status === undefined
      ? []
      : [{ ...shownKey(key, redact), here: hereOf('value', status, at, show) }];
  });
  return { at, size: cache.size, matching, looked, keys: rows };
}

/** Of a cache as a whole only its member of the group knows the status. */
function statusOf(given: GroupMember): object {
  return given.kind === 'cache' ? given.inspect() : given.member.inspect();
}

/** The name of the lock is that of the member, or of its key. */
async function lockRecord(
  { name, lock, kind }: GroupMember,
  key: readonly [key?: unknown],
): Promise<LockRecord | undefined> {
  const provider = lock as LockProvider | undefined;
  if (provider === undefined || (kind === 'cache' && key.length === 0)) return undefined;
  const own = key.length === 0 ? name : `${name}[${keyText(key[0])}]`;
  return provider.inspect(own);
}

async function settled<T>(promise: T | Promise<T>): Promise<{ readonly value?: T; readonly error?: string }> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error: error instanceof Error ? failureText(error) : String(error) };
  }
}

/** An execution as operators see it. */
export interface ShownExecution {
  /** The instance, for people; left out: this one. */
  readonly on?: string;
  /** When it began, in epoch milliseconds. */
  readonly startedAt: number;
  /** How long it took, in milliseconds. */
  readonly took: number;
  /** `done`: a task has ended; `absent`: the source does not have the key. */
  readonly outcome: ExecutionOutcome | 'absent' | 'done';
  /** Left out: not known, as of the runs of a task at a backend. */
  readonly trigger?: Trigger;
  /** How many times the load was called; left out: not known. */
  readonly attempts?: number;
  readonly error?: string;
  /** Of a cache. */
  readonly key?: string;
}

/** All that is known of executions beside what this instance remembers. */
interface KnownOfExecutions {
  readonly runs: readonly ExecutorRun[] | undefined;
  readonly fleet: Fleet | undefined;
  readonly now: number;
}

/**
 * The last executions of a member, or of a key of a cache, newest first: those that this instance remembers, and those that
 * others have reported. Of a task whose runs are at a backend all of these, and executions that failed before it was called.
 *
 * @param runs of a task.
 * @param redact hides credentials in the texts.
 */
function executionsOf(
  member: GroupMember,
  key: readonly [key?: unknown],
  { runs = [], fleet, now }: KnownOfExecutions,
  redact: Redact,
): readonly ShownExecution[] {
  const { kind } = member;
  const isAtBackend = runs.some(({ host }) => host !== undefined);
  const own = member.inspect().executions.filter((one) => key.length === 0 || isOfKey(one, key[0]));
  const elsewhere = key.length === 0 ? reportedOf(member, fleet, now) : [];
  const remembered = [...own.map((one) => ({ ...one, ...keyOf(one, redact) })), ...elsewhere].filter(
    ({ attempts, error }) => !isAtBackend || (attempts === 0 && error !== undefined),
  );
  const shown = remembered.map(
    ({ startedAt, took, outcome, trigger, attempts, error, key: of, ...others }) => ({
      ...('on' in others ? { on: others.on } : {}),
      startedAt,
      took,
      outcome: shownOutcome(outcome, kind, 'isAbsent' in others && others.isAbsent),
      trigger,
      attempts,
      ...(error === undefined ? {} : { error: shownMessage(error, redact) }),
      ...(of === undefined ? {} : { key: of }),
    }),
  );
  const ofBackend = isAtBackend ? runs.map((run) => shownRun(run, redact)) : [];
  return [...ofBackend, ...shown].sort((a, b) => endOf(b) - endOf(a));
}

/** The wall clock has whole milliseconds, and the beginning is computed from the end: within one the order of the log stays. */
function endOf({ startedAt, took }: ShownExecution): number {
  return Math.round(startedAt + took);
}

function shownOutcome(
  outcome: ExecutionOutcome,
  kind: GroupMember['kind'],
  isAbsent: boolean,
): ShownExecution['outcome'] {
  if (outcome !== 'loaded') return outcome;
  return kind === 'executor' ? 'done' : isAbsent ? 'absent' : outcome;
}

function isOfKey({ key }: ExecutionRecord, of: unknown): boolean {
  return Object.is(key, of) || keyText(key) === keyText(of);
}

function keyOf({ key }: ExecutionRecord, redact: Redact): { readonly key: string | undefined } {
  return { key: key === undefined ? undefined : shownKey(key, redact).text };
}

/** Those of other instances. */
function reportedOf({ name }: GroupMember, fleet: Fleet | undefined, now: number) {
  const instances = instancesOf(fleet);
  const labels = instanceLabels(instances);
  return instances
    .filter(({ isHere }) => !isHere)
    .flatMap(({ id, host, members }) => {
      const found = members.find((one) => one.name === name);
      const on = labels.get(id) ?? host;
      return (found?.executions ?? []).map(({ ago, ...one }) => ({ ...one, on, startedAt: now - ago }));
    });
}

function shownRun(
  { startedAt, took, outcome, error, host, instance = '' }: ExecutorRun,
  redact: Redact,
): ShownExecution {
  const process = /^\d+/.exec(instance)?.[0];
  return {
    ...(host === undefined ? {} : { on: process === undefined ? host : `${host} (${process})` }),
    startedAt,
    took,
    outcome: shownOutcome(outcome, 'executor', false),
    ...(error === undefined ? {} : { error: shownMessage(error, redact) }),
  };
}
