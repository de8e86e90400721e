import { oneByOne } from './one-by-one.ts';
import type { InstanceReport, SnapshotStore, StoredSnapshot } from './store-contract.ts';

/** The step `versions` on a backend. Where it lacks the step, each snapshot is read, and the report is not stored. */
export async function versionsOf(
  backend: Pick<SnapshotStore, 'read' | 'versions'>,
  names: readonly string[],
  report: InstanceReport | undefined,
): Promise<readonly (number | Error)[]> {
  if (names.length === 0 && report === undefined) return [];
  return backend.versions?.(names, report) ?? versionsRead(backend, names);
}

async function versionsRead(
  backend: Pick<SnapshotStore, 'read'>,
  names: readonly string[],
): Promise<readonly (number | Error)[]> {
  const found = await oneByOne(names, (name) => backend.read(name));
  return found.map((read) => (read instanceof Error ? read : versionIn(read)));
}

/** @throws the first error among them. */
export function allVersions(found: readonly (number | Error)[]): readonly number[] {
  return found.map((version) => {
    if (version instanceof Error) throw version;
    return version;
  });
}

function versionIn(read: StoredSnapshot | undefined): number {
  return read === undefined || read.damage !== undefined ? 0 : read.version;
}
