import { partsIn, type TextRecord } from '../../src/records/cells/stored-text.ts';
import { nameAt, PARTS, placeOf, SNAPSHOT } from '../../src/records/names.ts';

/** How records are kept in cells: no other file of the simulation and of the faults knows it. */

/** The name of the cell that has a record. */
export function cellOf(record: string): string {
  return placeOf(record).cell;
}

/** The names of the records that a cell may have. */
export function recordsOf(cell: string): readonly string[] {
  return [...new Set(PARTS.map((part) => nameAt(cell, part)))];
}

/** The records in the text of a cell, by their names. */
export function recordsIn(cell: string, text: string | undefined): ReadonlyMap<string, TextRecord> {
  const present = [...partsIn(text)].map(([part, record]) => [nameAt(cell, part), record] as const);
  return new Map(present);
}

/** The text of a cell where the texts of all versions of its snapshot are damaged. */
export function damagedText(cell: string, text: string): string {
  const records = JSON.parse(text) as Readonly<Record<string, TextRecord>>;
  const damaged = Object.entries(records).map(([part, record]) => {
    const isSnapshot = recordsOf(cell).some((one) => one.startsWith(SNAPSHOT)) && part === 'snapshot';
    return [part, isSnapshot ? damagedRecord(record) : record];
  });
  return JSON.stringify(Object.fromEntries(damaged));
}

/** In place of a text, and the beginning of no snapshot. */
export const DAMAGED = '{';

function damagedRecord({ older, ...record }: TextRecord): TextRecord {
  return { ...record, text: DAMAGED, older: older.map((edition) => ({ ...edition, text: DAMAGED })) };
}
