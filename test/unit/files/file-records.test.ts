import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FileRecords } from '../../../src/files/file-records.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe.concurrent('files: conformance', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const records = () => new FileRecords('store', { directory, timeout: 20_000 });
  for (const { name, run } of recordsConformance({ records, other: records })) it(name, run);
});

it('of 20 puts without a token at once each has a token of its own, and the last one counts', async () => {
  const directory = temporaryDirectory();
  const all = [1, 2].map(() => new FileRecords('store', { directory, timeout: 20_000 }));
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
  const records = new FileRecords('store', { directory: temporaryDirectory() });
  const texts = ['short', 'x'.repeat(10_000)];
  const edits = texts.map((text, i) => ({ op: 'put', name: `report/${i}`, text, older: 0 }) as const);
  await records.apply(edits);
  const { rows } = await records.list('report/', 10);
  expect(rows.map(([name, { text }]) => [name, text])).toEqual(texts.map((text, i) => [`report/${i}`, text]));
});
