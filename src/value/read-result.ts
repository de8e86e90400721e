import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { type JsonStatus, withJson } from '../json.ts';
import { ignoreRejection } from '../time/deferred.ts';
import { type ValueStatus, valueStatus } from './value-status.ts';

/** The value that a read is served with its age and state, all of one instant. A copy: it does not change. */
export interface ReadResult<T>
  extends Pick<
      ValueStatus<T>,
      'isInitial' | 'isStale' | 'nextExecuteTime' | 'failures' | 'lastError' | 'maxStaleness' | 'meta'
    >,
    JsonStatus {
  readonly value: T;
  /** `fresh`: not due; `stale`: due for a reload; `too-stale`: has just become older than `maxStaleness`. */
  readonly state: 'fresh' | 'stale' | 'too-stale';
  /** When the value was loaded (or kept, or set): the end of the load in epoch milliseconds. */
  readonly loadedAt: number;
  /** Milliseconds since then, by the monotonic clock. */
  readonly age: number;
  /** The version under which other instances find it; `undefined`: it has none, or there is no lock and no store. */
  readonly version: number | undefined;
}

/**
 * Reads, and adds the state of the entry that was read.
 *
 * @param read the read; it is made again where the value was dropped in the moment in which it came.
 * @param entryOf the entry that it has read.
 */
export function readResult<T>(
  read: () => Promise<T>,
  entryOf: () => Entry<T>,
  engine: MemberEngine<T>,
): Promise<ReadResult<T>> {
  const once = (): Promise<ReadResult<T>> =>
    read().then(() => {
      const entry = entryOf();
      return entry.isLoaded ? resultOf(entry, engine) : once();
    });
  return ignoreRejection(once());
}

function resultOf<T>(entry: Entry<T>, engine: MemberEngine<T>): ReadResult<T> {
  const status = valueStatus(entry, engine, false);
  const {
    state,
    isInitial,
    isStale,
    loadedAt,
    age,
    nextExecuteTime,
    failures,
    lastError,
    maxStaleness,
    meta,
  } = status;
  return withJson({
    value: entry.value as T,
    state: state as ReadResult<T>['state'],
    ...(isInitial && { isInitial }),
    isStale,
    loadedAt: loadedAt as number,
    age: age as number,
    nextExecuteTime,
    failures,
    lastError,
    maxStaleness,
    version: status.lock?.version,
    ...(meta && { meta }),
  });
}
