import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// The files of records, as tests look at them and edit them.

/** The folder of a record: `lock/n`, `snapshot/n`, `report//a` (of an instance without a namespace). */
export function folderOf(directory: string, record: string): string {
  const escaped = record.replaceAll('/', '%2f');
  return join(directory, `record-${escaped}`);
}

/** The numbers of the states of a record, ascending. */
export function states(directory: string, record: string): number[] {
  return readdirSync(folderOf(directory, record))
    .filter((file) => file.endsWith('.json'))
    .map((file) => Number.parseInt(file, 10))
    .sort((a, b) => a - b);
}

export function pathOf(directory: string, record: string, number?: number): string {
  const found = number ?? states(directory, record).at(-1) ?? 0;
  return join(folderOf(directory, record), `${found}.json`);
}

/** The texts of a record that are in files of their own. */
export function texts(directory: string, record: string): string[] {
  const folder = folderOf(directory, record);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.text'))
    .map((file) => join(folder, file));
}

export interface State {
  readonly at: number;
  readonly wall: number;
  readonly boot: string;
  readonly record: Record<string, unknown> & Readonly<Record<'token' | 'at' | 'changedAt' | 'until', number>>;
}

/** Edits the present state of a record by hand: changes fields of the state, or returns the whole text. */
export function edit(directory: string, record: string, change: (state: State) => object | string): void {
  const path = pathOf(directory, record);
  const state = JSON.parse(readFileSync(path, 'utf8'));
  const changed = change(state);
  writeFileSync(path, typeof changed === 'string' ? changed : JSON.stringify({ ...state, ...changed }));
}

/** A change of a state that makes it older, by all clocks. */
export function older(ms: number): (state: State) => object {
  return ({ at, wall, record }) => {
    const instants = Object.fromEntries(
      (['at', 'changedAt', 'until'] as const).map((field) => [field, record[field] - ms]),
    );
    return { at: at - ms, wall: wall - ms, record: { ...record, ...instants } };
  };
}
