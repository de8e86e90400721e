import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { folderName, mayBeginWith, nameOfFolder } from '../../../src/backends/files/folder-name.ts';

const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });

describe('folderName', () => {
  it.each([
    ['rates', 'lock-rates'],
    ['rates-2_b', 'lock-rates-2_b'],
    ['Rates', 'lock-%52ates'],
    ['a.b/c', 'lock-a%2eb%2fc'],
    ['..', 'lock-%2e%2e'],
    ['a ', 'lock-a%20'],
    ['100%', 'lock-100%25'],
    ['é', 'lock-%c3%a9'],
    ['~', 'lock-%7e'],
  ])('%s', (name, folder) => {
    expect(folderName('lock-', name)).toBe(folder);
    expect(nameOfFolder('lock-', folder)).toBe(name);
  });

  it('differs for any two names, also if case is ignored', () => {
    const distinct = (one: string, two: string) => {
      const folders = [one, two].map((name) => folderName('lock-', name));
      expect(folders[0] === folders[1]).toBe(one === two);
      expect(folders[0]).toBe(folders[0]?.toLowerCase());
    };
    fc.assert(fc.property(names, names, distinct));
    fc.assert(fc.property(names, (name) => distinct(name, name.toUpperCase())));
    fc.assert(fc.property(names, (name) => distinct(name, name.normalize('NFD'))));
  });

  it('is valid on all file systems', () => {
    fc.assert(
      fc.property(names, (name) => {
        const folder = folderName('snapshot-', name);
        expect(folder).toMatch(/^[a-z0-9_%~-]{1,180}$/);
      }),
    );
    const long = folderName('snapshot-', 'é'.repeat(1000));
    expect(long).toMatch(/^snapshot-[%a-z0-9]{80}~[0-9a-f]{64}$/);
    expect(folderName('snapshot-', `${'é'.repeat(999)}e`)).not.toBe(long);
  });

  it('gives the name back, unless it was too long', () => {
    fc.assert(
      fc.property(names, (name) => {
        const folder = folderName('lock-', name);
        expect(nameOfFolder('lock-', folder)).toBe(folder.includes('~') ? undefined : name);
      }),
    );
  });

  it.each([
    'snapshot-rates',
    'lock-Rates',
    'lock-%',
    'lock-%41%',
    'lock-a.b',
    'lock-%C3%A9',
    '.DS_Store',
    'lock',
  ])('a foreign folder: %s', (folder) => {
    expect(nameOfFolder('lock-', folder)).toBeNull();
  });
});

describe('mayBeginWith', () => {
  it('is true for all names that begin with a text, and false for others as far as they are known', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 100 });
    fc.assert(
      fc.property(text, names, names, (beginning, rest, other) => {
        expect(mayBeginWith('lock-', folderName('lock-', beginning + rest), beginning)).toBe(true);
        const folder = folderName('lock-', other);
        if (folder.includes('~')) return;
        expect(mayBeginWith('lock-', folder, beginning)).toBe(other.startsWith(beginning));
      }),
    );
    const long = folderName('lock-', 'a'.repeat(1000));
    const begins = ['a', 'a'.repeat(200), 'b', `${'a'.repeat(79)}b`].map((one) =>
      mayBeginWith('lock-', long, one),
    );
    expect(begins).toEqual([true, true, false, false]);
  });
});
