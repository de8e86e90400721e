import { showKey } from '../errors.ts';
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

/** Marks a snapshot as damaged if it has values that no store writes: the record was edited outside of the library. */
export function withDamage(read: StoredSnapshot): StoredSnapshot {
  if (read.damage !== undefined) return read;
  const { version, age, payload } = read;
  const isVersion = Number.isSafeInteger(version);
  if (isVersion && Number.isFinite(age) && typeof payload === 'string') return read;
  const [what, found] = !isVersion
    ? ['version', version]
    : typeof payload !== 'string'
      ? ['payload', payload]
      : ['age', age];
  const damage = `its record is damaged: the ${what} in it is ${showKey(found)}`;
  return { version: isVersion ? version : 0, age: 0, payload: '', damage };
}
