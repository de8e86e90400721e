import { deadlineOf, type Entry } from '../engine/entry.ts';
import { asKept, candidateOf } from '../engine/load-result.ts';
import { ignoreRejection } from '../time/deferred.ts';
import { withTimeout } from '../time/with-timeout.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import type { HeldLease } from './held-lease.ts';
import type { EncodedBody } from './snapshot-body.ts';

/** How long a result may wait to be compared: a slow codec does not hold up the value. */
const LONGEST_COMPARISON_MS = 1000;

/** A result as it was compared: it need not be encoded again where it is published. */
export interface ComparedResult<R> {
  /** That of the load; as `keep()` returns it where the text is that of the version in place. */
  readonly result: R;
  readonly value: unknown;
  readonly body: Promise<EncodedBody>;
  /** Its length, in bytes of UTF-8; `undefined`: it was not encoded in time. */
  readonly bytes: number | undefined;
}

/** The version in place, if it can be confirmed for other instances. */
export function versionToConfirm<T>(
  { store, marks }: ClusterMember,
  entry: Entry<T>,
  token: number | undefined,
): number | undefined {
  const { tags, id } = entry;
  const state = clusterStateOf(entry);
  const { as, version, pin } = state.held;
  const isOutOfDate = version <= Math.max(state.mark, marks?.outOfDateUpTo(id, tags) ?? 0);
  const isOrdered = as === 'published' && pin === undefined && token !== undefined;
  const isIn = store !== undefined && version !== state.undecodableVersion;
  return isIn && isOrdered && !isOutOfDate && !marks?.isBeingMarked(tags) ? version : undefined;
}

/**
 * Compares the result of a load with the text of the version in place, where that is known: an equal one confirms it as `keep()`
 * does. `undefined`: there is nothing to compare. Never rejects: an error of the codec is reported by the publication.
 */
export async function compareResult<T, R>(
  member: ClusterMember,
  entry: Entry<T>,
  result: R,
  lease: HeldLease | undefined,
): Promise<ComparedResult<R> | undefined> {
  const { store, options } = member;
  const { text } = clusterStateOf(entry);
  const candidate = candidateOf(result);
  const version = versionToConfirm(member, entry, lease?.id.token);
  if (store === undefined || candidate === undefined || text === undefined || text.version !== version)
    return undefined;
  const { value } = candidate;
  const body = ignoreRejection(store.writer.encode(value, false, true, lease));
  const leftMs = deadlineOf(entry) - options.clock.monotonic();
  const limitMs = Math.max(0, Math.min(LONGEST_COMPARISON_MS, leftMs / 2));
  let bytes: number | undefined;
  const isEqual = async (): Promise<boolean> => {
    const encoded = await body;
    bytes = encoded.bytes;
    return encoded.digest === text.digest;
  };
  const isKept = await withTimeout(isEqual, limitMs, options.clock).catch(() => false);
  return { result: isKept ? (asKept(result) as R) : result, value, body, bytes };
}
