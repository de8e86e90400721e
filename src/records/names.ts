/**
 * The beginnings of the names of records, by what they are. A layout of records that builds before can't live with takes others, so
 * that these see none of it.
 */
export const LOCK = 'lock/';
export const SNAPSHOT = 'snapshot/';
/** Reports are few, small, and looked at together: a backend that lists by partition keeps them in one. */
export const REPORT = 'report/';

/** The parts of the text of a name: records whose names begin so are kept together. */
export type Part = 'lock' | 'snapshot';
export const PARTS: readonly Part[] = ['lock', 'snapshot'];

/** The beginning of a name with parts. */
export const NAME = 'name/';

/** Where a record is kept. */
export interface Place {
  /** The name whose text has it. */
  readonly cell: string;
  /** Its part of that text. */
  readonly part: Part;
}

/** All other records, such as reports, are apart. */
export function placeOf(name: string): Place {
  const part = PARTS.find((one) => name.startsWith(`${one}/`));
  if (part === undefined) return { cell: name, part: 'snapshot' };
  return { cell: NAME + name.slice(part.length + 1), part };
}

/** The name of the record in that part of a text. */
export function nameAt(cell: string, part: Part): string {
  return cell.startsWith(NAME) ? `${part}/${cell.slice(NAME.length)}` : cell;
}
