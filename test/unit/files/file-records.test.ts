import { existsSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { FileRecords } from '../../../src/backends/files/file-records.ts';
import { MachineClock } from '../../../src/backends/files/machine-clock.ts';
import { NumberedFiles } from '../../../src/backends/files/numbered-files.ts';
import { RecordFolder } from '../../../src/backends/files/record-folder.ts';
import { recordsCases } from '../../../src/testing/records-conformance.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { folderOf, pathOf, states } from './record-files.ts';

describe.concurrent('files: conformance', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const records = () => new FileRecords({ directory, timeout: 20_000 });
  for (const { name, run } of recordsCases({ records, other: records, areInOrder: true })) it(name, run);
});

it('of 20 puts without a token at once each has a token of its own, and the last one counts', async () => {
  const directory = temporaryDirectory();
  const all = [1, 2].map(() => new FileRecords({ directory, timeout: 20_000 }));
  const puts = Array.from({ length: 20 }, async (_, i) => {
    const edit = { op: 'put', name: 'snapshot/n', text: `${'x'.repeat(4000)}${i}`, older: 99 } as const;
    const [answer] = (await (all[i % 2] as FileRecords).apply([edit])).answers;
    if (answer === undefined || answer instanceof Error) throw answer;
    return [answer.row?.token, edit.text] as const;
  });
  const put = (await Promise.all(puts)).sort(([a = 0], [b = 0]) => b - a);
  const editions = await (all[0] as FileRecords).editions('snapshot/n', 5000);
  expect(editions.map(({ row: { token, text } }) => [token, text])).toEqual(put);
});

it('a list has the texts of its records, however long they are', async () => {
  const records = new FileRecords({ directory: temporaryDirectory() });
  const texts = ['short', 'x'.repeat(10_000)];
  const edits = texts.map((text, i) => ({ op: 'put', name: `report/${i}`, text, older: 0 }) as const);
  await records.apply(edits);
  const { rows } = await records.list('report/', 10);
  expect(rows.map(([name, { text }]) => [name, text])).toEqual(texts.map((text, i) => [`report/${i}`, text]));
});

it('a folder that another process has just begun is not swept before its first record, and one left behind is', async () => {
  const directory = temporaryDirectory();
  const files = new NumberedFiles({ directory });
  for (const name of ['lock/begun', 'lock/left'])
    await new RecordFolder(files, new MachineClock(), files.folderOf(name)).begin(name);
  const old = new Date(Date.now() - 660_000);
  utimesSync(pathOf(directory, 'lock/left', 0), old, old);
  /** A new object sweeps behind its first change. */
  const sweep = async () => {
    const records = new FileRecords({ directory });
    await records.apply([
      { op: 'claim', name: `lock/${Math.random()}`, id: 'i', text: '', forMs: 1, force: true },
    ]);
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await vi.waitFor(async () => {
    await sweep();
    expect(existsSync(folderOf(directory, 'lock/left'))).toBe(false);
  });
  for (let i = 0; i < 10; i += 1) await sweep();
  expect(states(directory, 'lock/begun')).toEqual([0]);
});
