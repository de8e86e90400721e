import type { LockProvider, LockRecord } from '../cluster/lock-contract.ts';
import { failureText } from '../errors.ts';
import type {
  Fleet,
  GroupMember,
  MemberCounts,
  RefreshingCache,
  ValueStatus,
  VersionRecord,
} from '../index.ts';
import { executionsOf, type ShownExecution } from './executions.ts';
import type { FoundKeys } from './key-search.ts';
import { type ShownKey, shownKey } from './member-access.ts';
import type { Redact } from './redact.ts';
import { type HereStatus, hereOf } from './rows.ts';
import { keyText } from './short-id.ts';
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
