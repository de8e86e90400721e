import { type Entry, keyOf, sharedOf } from '../engine/entry.ts';
import type { Cluster } from './cluster.ts';
import type { HeldLease } from './held-lease.ts';
import type { Snapshot } from './snapshot.ts';

/** What an answer led to, when it had been applied. */
export interface Applied {
  readonly isAbsent: boolean;
  /** Milliseconds. */
  readonly took: number;
}

/** What is to be known of an entry after its answer was applied, whatever becomes of it later. */
export interface Concluded extends Applied {
  readonly value: unknown;
  readonly loadedAt: number;
  readonly dueAt: number;
  readonly isDueSaid: boolean;
  readonly maxStaleness: number | undefined;
  readonly tags: readonly string[] | undefined;
  readonly absentUntil: number;
  /** The version that was held before. */
  readonly knownVersion: number;
}

/** Takes down what an entry is now. */
export function concluded(
  { policy }: Cluster,
  entry: Entry<unknown>,
  applied: Applied,
  knownVersion: number,
): Concluded {
  const { maxStalenessMs } = entry;
  return {
    ...applied,
    value: entry.value,
    loadedAt: entry.loadedAt,
    dueAt: entry.dueAt,
    isDueSaid: !entry.isScheduled,
    // Where it is not that of the option: the load gave it, or the schedule.
    maxStaleness: maxStalenessMs === policy.maxStalenessMs ? undefined : maxStalenessMs,
    tags: entry.tags,
    absentUntil: entry.coolDownUntil,
    knownVersion,
  };
}

/**
 * Writes what an entry was into the store. Never rejects.
 *
 * @param lease under which it was made.
 * @returns `shared`: others find it there now. `overtaken`: there is a newer one. `unwritten`: the store could not be
 * written, or the lease is over.
 */
export async function publish(
  cluster: Cluster,
  entry: Entry<unknown>,
  about: Concluded,
  lease: HeldLease | undefined,
): Promise<'shared' | 'overtaken' | 'unwritten'> {
  const { value, isAbsent, isDueSaid, maxStaleness, tags, took, dueAt, loadedAt, absentUntil } = about;
  const { clock } = cluster.policy;
  // When it is written: the codec may take its time.
  const said = (): Omit<Snapshot, 'value'> => ({
    isAbsent,
    age: Math.max(0, clock.monotonic() - loadedAt),
    isDueSaid,
    took,
    maxStaleness,
    tags,
    dueIn: Math.max(0, (isAbsent ? absentUntil : dueAt) - clock.monotonic()),
  });
  const written = await cluster.publish(entry, value, said, lease);
  if (written === undefined) return 'unwritten';
  const { version } = written;
  if (written.kind === 'refused') {
    overtaken(cluster, entry, about, version, lease);
    return 'overtaken';
  }
  const state = sharedOf(entry);
  if (version > state.version) state.version = version;
  if (entry.value === value && entry.loadedAt === loadedAt) state.isLocal = false;
  cluster.events.emit('published', { version, ...keyOf(entry) });
  return 'shared';
}

/** The store holds a newer one. That is looked for at the next read; unless it was known, and is no news. */
function overtaken(
  { policy: { clock, logger } }: Cluster,
  entry: Entry<unknown>,
  { knownVersion, dueAt }: Concluded,
  version: number,
  lease: HeldLease | undefined,
): void {
  if (version <= knownVersion) {
    const about = 'the store holds a version that the lock has not come to yet: are they of two engines?';
    logger.error(about, `version ${version}, token ${lease?.id.token}`);
    return;
  }
  const state = sharedOf(entry);
  state.isLocal = true;
  state.awaits = version;
  if (entry.dueAt === dueAt) entry.dueAt = entry.freshUntil = clock.monotonic();
}
