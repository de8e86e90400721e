import { oneByOne } from '../../cluster/one-by-one.ts';
import type { Answer, Edit } from '../../records/records.ts';

/** The most names of one statement, and the most characters of their texts, unless it has only one name. */
export const MOST_NAMES = 500;
const MOST_CHARACTERS = 1_000_000;

/** How edits are sent. */
export interface Sending<E extends Edit> {
  /** Sends one statement, whose edits are ordered by name. @returns an answer for each. */
  readonly send: (edits: readonly E[]) => Promise<readonly (Answer | Error)[]>;
  /** The statement failed because of one of its values, without effect. */
  readonly isOfValues: (error: unknown) => boolean;
  /** Edits of different kinds are sent in different statements. @default all are of one kind */
  readonly kindOf?: (edit: E) => string;
}

/**
 * Sends edits in as few statements as possible. All statements contain their names in one order, that of UTF-8 and of the
 * index, so that sessions never wait for each other's rows in a circle. A statement that fails because of a value is sent
 * again in halves, so that this edit fails alone. Any other failure is that of all edits of the statement.
 *
 * @returns the answers in the order of the edits. Rejects if all statements have failed.
 */
export async function inStatements<E extends Edit>(
  edits: readonly E[],
  { send, isOfValues, kindOf = () => '' }: Sending<E>,
): Promise<(Answer | Error)[]> {
  const sendAll = async (some: readonly E[]): Promise<readonly (Answer | Error)[]> => {
    try {
      return await send(some);
    } catch (error) {
      if (!isOfValues(error)) throw error;
      if (some.length === 1) return [error as Error];
      const half = Math.ceil(some.length / 2);
      return [...(await sendAll(some.slice(0, half))), ...(await sendAll(some.slice(half)))];
    }
  };
  const statements = statementsOf(edits, kindOf);
  const replies = await oneByOne(statements, sendAll);
  const answers: Map<E, Answer | Error> = new Map();
  for (const [i, some] of statements.entries()) {
    const reply = replies[i] as readonly (Answer | Error)[] | Error;
    for (const [k, edit] of some.entries()) {
      answers.set(edit, reply instanceof Error ? reply : (reply[k] as Answer | Error));
    }
  }
  return edits.map((edit) => answers.get(edit) as Answer | Error);
}

/** The edits of each statement. */
function statementsOf<E extends Edit>(edits: readonly E[], kindOf: (edit: E) => string): E[][] {
  const statements: E[][] = [];
  const open: Map<string, { readonly edits: E[]; size: number }> = new Map();
  for (const edit of edits.toSorted((a, b) => inUtf8(a.name, b.name))) {
    const kind = kindOf(edit);
    const size = sizeOf(edit);
    let last = open.get(kind);
    if (last === undefined || last.edits.length === MOST_NAMES || last.size + size > MOST_CHARACTERS) {
      last = { edits: [], size: 0 };
      open.set(kind, last);
      statements.push(last.edits);
    }
    last.edits.push(edit);
    last.size += size;
  }
  return statements;
}

function sizeOf(edit: Edit): number {
  return edit.op === 'put' ? edit.text.length : 0;
}

/** Compares by code points. Comparing strings compares code units, where surrogates come before U+E000 to U+FFFF. */
function inUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10_000 : unit;
}
