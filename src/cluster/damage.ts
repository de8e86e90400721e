import { showKey } from '../errors.ts';
import type { StoredSnapshot } from './store-contract.ts';

/** Marks a stored snapshot as damaged if no store can have written it: its record was edited by hand. */
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
