import { showKey } from '../errors.ts';
import { ownOptions } from '../option-checks.ts';
import { showDuration } from '../time/show-duration.ts';
import { CLOCK_BACK_MS } from './plausible.ts';
import type { StoredSnapshot } from './store-contract.ts';

/**
 * The record of one name at a lock can't be used: it was edited by hand. The backend has answered, so this proves nothing
 * about other names.
 */
export class DamagedRecordError extends TypeError {}

/** @param thrown by a step of a lock, or by a lock around another one. */
export function isDamage(thrown: unknown): boolean {
  return (
    thrown instanceof DamagedRecordError || (thrown as Error | undefined)?.cause instanceof DamagedRecordError
  );
}

/**
 * A snapshot that no instance of this codec can decode: it is damaged, or was never one. It refuses no write. One of another
 * format, or one that a schema refuses, may be of use to other instances.
 */
export class UndecodableError extends Error {}

/**
 * Marks a snapshot as damaged if it has values that no store writes: the record was edited outside of the library, or the
 * backend's clock was set back since the write, so that its age is unknown. An age within the tolerance counts as 0.
 */
export function withDamage(given: StoredSnapshot): StoredSnapshot {
  const read = ownOptions(given);
  if (read.damage !== undefined) return read;
  const damage = damageOf(read);
  if (damage === undefined) return Object.assign(read, { age: Math.max(0, read.age) });
  const version = Number.isSafeInteger(read.version) ? read.version : 0;
  return { version, age: 0, payload: '', damage };
}

function damageOf({ version, age, payload }: StoredSnapshot): string | undefined {
  const damaged = (what: string, found: unknown): string =>
    `its record is damaged: the ${what} in it is ${showKey(found)}`;
  if (!Number.isSafeInteger(version)) return damaged('version', version);
  if (typeof payload !== 'string') return damaged('payload', payload);
  if (!Number.isFinite(age)) return damaged('age', age);
  if (age >= -CLOCK_BACK_MS) return undefined;
  return `its age is unknown: it was written ${showDuration(-age)} after the backend's present time`;
}
