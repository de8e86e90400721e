import { describe, it } from 'vitest';
import { TextCells } from '../../../src/backends/cas/text-cells.ts';
import { MemoryCells } from '../../../src/records/cells/memory-cells.ts';
import { cellsCases, recordsCases, recordsConformance } from '../../../src/testing/records-conformance.ts';
import { CLOCKS, MemoryTexts, Server, swappedIn } from '../cas/memory-texts.ts';

describe.concurrent('memory', () => {
  const cells = new MemoryCells(Date.now);
  for (const { name, run } of recordsConformance({ cells: () => cells })) it(name, run);
});

describe.concurrent.each(CLOCKS)('texts that are swapped, where %s', (_, one, another) => {
  const server = Server.ofNow();
  const [texts, others] = [one, another].map((bounds) => new MemoryTexts(server, ...bounds)) as [
    MemoryTexts,
    MemoryTexts,
  ];
  const subject = { records: () => swappedIn(texts), other: () => swappedIn(others) };
  for (const { name, run } of recordsCases(subject)) it(name, run);
  for (const { name, run } of cellsCases(() => new TextCells(texts))) it(name, run);
});
