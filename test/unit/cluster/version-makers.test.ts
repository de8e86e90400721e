import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { historyText } from '../../../src/cli/tables.ts';
import { versionRecord } from '../../../src/cluster/history.ts';
import { makerText } from '../../../src/data/version-record.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

const quiet = { name: 'v', logger: false, retry: false } as const;

describe('history() names what made each version, and by whom', () => {
  it('a load, a set, a rollback, the end of its pin, and a mark', async () => {
    const backend = memoryBackend({ keepVersions: 9 });
    const value = new RefreshingValue({ ...quiet, load: () => 1, backend });
    await value.refresh();
    await value.set(2);
    await value.set(3, { by: 'ann', note: 'a typo at the source' });
    await value.rollback({ by: 'ben', note: 'as before' });
    await value.unpin({ by: 'cid', note: 'the source is well' });
    await value.invalidate();
    const history = await value.history();
    expect(history.map(({ made, by, note }) => [made, by, note]).reverse()).toEqual([
      ['load', undefined, undefined],
      ['set', undefined, undefined],
      ['set', 'ann', 'a typo at the source'],
      ['rollback', 'ben', 'as before'],
      ['unpin', 'cid', 'the source is well'],
      ['invalidate', undefined, undefined],
    ]);
    expect(historyText(history)).toMatch(
      / invalidate on .* unpin by cid on .* rollback by ben on .* set by ann on .* set on .* a load on /s,
    );
  });

  it('nothing of snapshots by earlier versions of the library, and of others only what it knows', () => {
    const about = { tickless: 1, format: 'json', dueIn: null, took: 0, length: 1, sum: '0' };
    const madeOf = (publisher: object): unknown[] => {
      const beginning = `${JSON.stringify({ ...about, publisher })}\n1`;
      const record = versionRecord({ version: 1, age: 0, bytes: 1, beginning });
      return [record.made, makerText(record)];
    };
    expect(madeOf({ host: 'vm' })).toEqual([undefined, 'a load on vm']);
    expect(madeOf({ host: 'vm', by: 'ann' })).toEqual([undefined, 'ann on vm']);
    expect(madeOf({ host: 'vm', made: 'magic' })).toEqual([undefined, 'a load on vm']);
  });

  it('whoever does it is a short text', async () => {
    const value = new RefreshingValue({ ...quiet, load: () => 1, backend: memoryBackend() });
    for (const wrong of ['', 1, 'x'.repeat(501)]) {
      const set = () => value.set(2, { by: wrong as string });
      expect(thrownBy(set)).toMatchObject(ofOption('by'));
    }
    expect(thrownBy(() => value.set(2, { note: 1 as never }))).toMatchObject(ofOption('note'));
    expect(thrownBy(() => value.set(2, { why: 1 } as never))).toMatchObject(ofOption('why'));
    expect(await rejectionOf(value.unpin({ by: '' }))).toMatchObject(ofOption('by'));
    expect(await rejectionOf(value.unpin({ why: 1 } as never))).toMatchObject(ofOption('why'));
    expect(value.peek()).toBeUndefined();
  });
});
