import { describe, it } from 'vitest';
import { SwappedRecords } from '../../../src/backends/cas/swapped-records.ts';
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
