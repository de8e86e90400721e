import { describe, expect, it } from 'vitest';
import { withDamage } from '../../../src/cluster/damage.ts';
import type { StoredSnapshot } from '../../../src/cluster/store-contract.ts';

const sound: StoredSnapshot = { version: 5, age: 10, payload: 'p' };

describe('a snapshot as its backend returns it', () => {
  it('is used as it is; an age just before the write counts as 0', () => {
    expect(withDamage(sound)).toEqual(sound);
    expect(withDamage({ ...sound, age: -60_000 })).toEqual({ ...sound, age: 0 });
    expect(withDamage({ ...sound, damage: 'known' })).toEqual({ ...sound, damage: 'known' });
  });

  it.each([
    [{ version: 1.5 }, 0, 'its record is damaged: the version in it is 1.5'],
    [{ version: '5' }, 0, 'its record is damaged: the version in it is "5"'],
    [{ payload: null }, 5, 'its record is damaged: the payload in it is null'],
    [{ age: Number.NaN }, 5, 'its record is damaged: the age in it is NaN'],
    [{ age: 10n }, 5, 'its record is damaged: the age in it is 10'],
    [{ age: -60_001 }, 5, "its age is unknown: it was written 1 min after the backend's present time"],
  ])('with %o is damaged', (field, version, damage) => {
    const read = withDamage({ ...sound, ...field } as unknown as StoredSnapshot);
    expect(read).toEqual({ version, age: 0, payload: '', damage });
  });
});
