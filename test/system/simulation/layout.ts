import { recordIn, type TextRecord } from '../../../src/records/cells/stored-text.ts';
import { SNAPSHOT } from '../../../src/records/names.ts';

/** How records are kept in cells: no other file of the simulation knows it. */

/** The name of the cell that has a record. */
export function cellOf(record: string): string {
  return record;
}

/** The records in the text of a cell, by their names. */
export function recordsIn(cell: string, text: string | undefined): ReadonlyMap<string, TextRecord> {
  const record = recordIn(text);
  return new Map(record === undefined ? [] : [[cell, record]]);
}

/** The text of the cell, where the texts of all versions of a snapshot are damaged. */
export function damagedText(cell: string, text: string): string {
  return cell.startsWith(SNAPSHOT) ? JSON.stringify(damaged(JSON.parse(text) as TextRecord)) : text;
}

/** In place of a text, and the beginning of no snapshot. */
export const DAMAGED = '{';

function damaged({ older, ...record }: TextRecord): TextRecord {
  return { ...record, text: DAMAGED, older: older.map((edition) => ({ ...edition, text: DAMAGED })) };
}
