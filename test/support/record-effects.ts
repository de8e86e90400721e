import { isLong, type TextRecord } from '../../src/records/cells/stored-text.ts';
import { REPORT, SNAPSHOT } from '../../src/records/names.ts';
import { recordsIn, recordsOf } from './cell-layout.ts';

/** How a swap has changed a record. */
export interface Effect {
  readonly record: string;
  readonly step: 'acquire' | 'extend' | 'release' | 'impose' | 'write' | 'confirm' | 'report';
  readonly after: TextRecord;
  /** Its text, also where it is beside the record. */
  readonly text: string;
}

/** What a swap does to the records of a cell. @param longText the long texts of the cell */
export function effectsOf(
  cell: string,
  before: string | undefined,
  after: string | undefined,
  longText: (id: string) => string | undefined = () => undefined,
): Effect[] {
  const [past, present] = [recordsIn(cell, before), recordsIn(cell, after)];
  return recordsOf(cell).flatMap((record) => {
    const now = present.get(record);
    const then = past.get(record);
    if (now === undefined || JSON.stringify(then) === JSON.stringify(now)) return [];
    const text = isLong(now.text) ? (longText(now.text.id) ?? '') : now.text;
    return [{ record, step: stepBetween(record, then, now), after: now, text }];
  });
}

function stepBetween(record: string, before: TextRecord | undefined, after: TextRecord): Effect['step'] {
  if (record.startsWith(REPORT)) return 'report';
  const isSame = before?.token === after.token && before.id === after.id && before.at === after.at;
  if (record.startsWith(SNAPSHOT)) return isSame ? 'confirm' : 'write';
  // A lease without a result: the hold before it is there again.
  if (before !== undefined && after.unused?.token === before.token) return 'release';
  if (!isSame) return after.phase === 'held' ? 'impose' : 'acquire';
  return after.phase === 'held' ? 'release' : 'extend';
}
