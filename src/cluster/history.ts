import type { VersionRecord } from '../data/version-record.ts';
import { ownOptions } from '../option-checks.ts';
import { withDamage } from './damage.ts';
import { publisherIn } from './snapshot.ts';
import type { StoredVersion } from './store-contract.ts';

/** The record of a version that a backend has listed. */
export function versionRecord(stored: StoredVersion): VersionRecord {
  const { version, age, bytes, beginning, damage } = ownOptions(stored);
  const read = withDamage({ version, age, payload: beginning, damage });
  const { owner, host, made, by, note, pinnedFor, mark } = publisherIn(read.payload);
  const isPinned = read.age < pinnedFor;
  return {
    ...{ version: read.version, age: read.age, bytes, owner, host, made, by, note, isPinned, mark },
    damage: read.damage,
  };
}

/** The length of a text in bytes of UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
