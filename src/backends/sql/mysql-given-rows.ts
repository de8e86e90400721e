import type { Edit } from '../../records/records.ts';
import { durationParameter, type SqlParameters, type SqlValue } from './client.ts';
import { COLLATION } from './mysql.ts';
import { BASE64 } from './mysql-literals.ts';

/** Edits as rows of literals, `given`, and their values. */
export interface Given {
  readonly rows: string;
  /** The same without their texts, which are in a command once. */
  readonly brief: string;
  readonly parameters: SqlParameters;
}

type Cells = Readonly<Record<string, readonly [value: SqlValue | undefined, type?: 'key' | 'long']>>;

/** The two products write VALUES with several rows differently; both accept this form. */
export function givenRows(edits: readonly Edit[], patienceMs: number): Given {
  const parameters: Record<string, SqlValue> = {};
  const rows = edits.map((edit, i) => {
    const cells = Object.entries(cellsOf(edit, i, patienceMs)).map(([name, [value = null, type]]) => {
      const key = `${name}_${i}`;
      parameters[key] = value;
      if (value === null || type === undefined) return `:${key} AS g_${name}`;
      if (type === 'long') return `${BASE64}:${key}) AS g_${name}`;
      return `:${key} ${COLLATION} AS g_${name}`; // as the columns: the index serves the comparison
    });
    return { whole: cells, brief: cells.filter((cell) => !cell.endsWith(' AS g_text')) };
  });
  const given = (which: 'whole' | 'brief'): string =>
    `(${rows.map((row) => `SELECT ${row[which].join(', ')}`).join(' UNION ALL ')}) AS given`;
  return { rows: given('whole'), brief: given('brief'), parameters };
}

function cellsOf(edit: Edit, i: number, patienceMs: number): Cells {
  const name: Cells = { i: [i], name: [edit.name, 'key'] };
  switch (edit.op) {
    case 'claim':
      return {
        ...name,
        id: [edit.id, 'key'],
        text: [edit.text, 'long'],
        for_ms: [durationParameter(edit.forMs)],
        is_forced: [Number(edit.force)],
        patience: [durationParameter(patienceMs)],
      };
    case 'amend':
      return {
        ...name,
        token: [edit.token],
        id: [edit.id, 'key'],
        phase: [edit.phase, 'key'],
        note: [edit.note ?? '', 'key'],
        for_ms: [durationParameter(edit.forMs)],
        keep_ms: [limited(edit.keepMs)],
      };
    case 'put':
      return {
        ...name,
        token: [edit.token],
        over: [edit.over],
        text: [edit.text, 'long'],
        keep_ms: [limited(edit.keepMs)],
        older: [edit.older],
      };
    case 'read':
      return {
        ...name,
        token: [edit.token],
        newer: [edit.newerThan ?? -1],
        is_brief: [Number(edit.isBrief === true)],
      };
    case 'delete':
      return name;
  }
}

function limited(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : durationParameter(ms);
}
