import type { Change } from '../../records/cells/cells.ts';
import { NAME, REPORT } from '../../records/names.ts';
import type { NameCall } from './script.ts';

/** An index of names that begin with a text: its key, and the beginning of the keys of its records, both after the prefix. */
export interface NameIndex {
  readonly beginning: string;
  readonly key: string;
  readonly records: string;
}

/** Reports share a slot of a cluster, with their index; that of names has one of its own. */
export const REPORTS: NameIndex = { beginning: REPORT, key: '{report}', records: '{report}/' };
export const NAMES: NameIndex = { beginning: NAME, key: '{name}', records: NAME };

/** Longer than any server can represent: a record is kept for ever. */
const NEVER_MS = 1e15;

/** A duration as an argument of the script. */
export function durationOf(ms: number): string {
  return String(Math.min(Math.ceil(ms), NEVER_MS));
}

/** Adds the names whose records those changes have written. */
export function indexCalls(
  index: NameIndex,
  changes: readonly Change[],
  op: 'index' | 'indexApart' = 'index',
  longerMs: number = 0,
): NameCall[] {
  const { beginning, key, records } = index;
  const names = changes.flatMap(({ name, swap }) =>
    swap?.after !== undefined && name.startsWith(beginning)
      ? [name.slice(beginning.length), durationOf(swap.keepForMs + longerMs)]
      : [],
  );
  return names.length === 0 ? [] : [{ name: key, args: [op, key, records, ...names] }];
}

/** A name in an index in another slot: since when, and until when at least, both monotonic. */
interface Indexed {
  readonly at: number;
  readonly until: number;
}

/** It is added again when this client has not done so for this long, in milliseconds. */
const INDEXED_FOR_MS = 600_000;

/** It is kept there for longer than its record by this: so it is added again now and then, and not by each change. */
export const INDEXED_LONGER_MS: number = 2 * INDEXED_FOR_MS;

/** The most names that are remembered. */
const MOST_INDEXED = 10_000;

/** The names that this client has added to an index in another slot. */
export class IndexedNames {
  readonly #names: Map<string, Indexed> = new Map();

  /** The changes whose names are to be added; from now on they count as added. */
  due(changes: readonly Change[], now: number): Change[] {
    const due = changes.filter(({ name, swap }) => {
      const { at, until } = this.#names.get(name) ?? { at: -Infinity, until: -Infinity };
      return at < now - INDEXED_FOR_MS || until < now + (swap?.keepForMs ?? 0);
    });
    this.forget(due);
    for (const { name, swap } of due)
      this.#names.set(name, { at: now, until: now + (swap?.keepForMs ?? 0) + INDEXED_LONGER_MS });
    for (const name of this.#names.keys()) {
      if (this.#names.size <= MOST_INDEXED) break;
      this.#names.delete(name);
    }
    return due;
  }

  forget(changes: readonly Change[]): void {
    for (const { name } of changes) this.#names.delete(name);
  }
}
