import { describe, it } from 'vitest';
import type { SwappedRecords } from '../../../src/records/cells/swapped-records.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { recordsCases } from '../../../src/testing/records-conformance.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { CLOCKS, MemoryTexts, Server, swappedIn } from '../cas/memory-texts.ts';

describe.concurrent('memory', () => {
  const records = memoryRecords(systemClock);
  for (const { name, run } of recordsCases({ records: () => records })) it(name, run);
});

describe.concurrent.each(CLOCKS)('texts that are swapped, where %s', (_, one, another) => {
  const server = Server.ofNow();
  const [records, other] = [one, another].map((bounds) => swappedIn(new MemoryTexts(server, ...bounds))) as [
    SwappedRecords,
    SwappedRecords,
  ];
  for (const { name, run } of recordsCases({ records: () => records, other: () => other })) it(name, run);
});
