import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { SwappedRecords } from '../../../src/cas/swapped-records.ts';
import { FileRecords } from '../../../src/files/file-records.ts';
import { MemoryRecords } from '../../../src/records/memory-records.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { CLOCKS, MemoryTexts, Server } from '../cas/memory-texts.ts';

describe.concurrent('memory', () => {
  const records = new MemoryRecords(systemClock);
  for (const { name, run } of recordsConformance({ records: () => records })) it(name, run);
});

describe.concurrent.each(CLOCKS)('texts that are swapped, where %s', (_, one, another) => {
  const server = Server.ofNow();
  const [records, other] = [one, another].map(
    (bounds) => new SwappedRecords(new MemoryTexts(server, ...bounds), Infinity),
  ) as [SwappedRecords, SwappedRecords];
  for (const { name, run } of recordsConformance({ records: () => records, other: () => other }))
    it(name, run);
});

describe.concurrent('files', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tickless-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const records = () => new FileRecords('store', { directory, timeout: 20_000 });
  for (const { name, run } of recordsConformance({ records, other: records })) it(name, run);
});
