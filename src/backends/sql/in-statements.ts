import { oneByOne } from '../../cluster/one-by-one.ts';
import type { Change } from '../../records/cells/cells.ts';

/** The most names of one statement, and the most characters of their texts, unless it has only one name. */
export const MOST_NAMES = 500;
const MOST_CHARACTERS = 1_000_000;

/** How changes are sent. */
export interface Sending<A> {
  /** Sends one statement, whose changes are ordered by name. @returns an answer for each. */
  readonly send: (changes: readonly Change[]) => Promise<readonly (A | Error)[]>;
  /** The statement failed because of one of its values, without effect. */
  readonly isOfValues: (error: unknown) => boolean;
  /** Changes of different kinds are sent in different statements. @default all are of one kind */
  readonly kindOf?: (change: Change) => string;
}

/**
 * Sends changes in as few statements as possible. All statements contain their names in one order, that of UTF-8 and of the
 * index, so that sessions never wait for each other's rows in a circle. A statement that fails because of a value is sent
 * again in halves, so that this change fails alone. Any other failure is that of all changes of the statement.
 *
 * @returns the answers in the order of the changes. Rejects if all statements have failed.
 */
export async function inStatements<A>(
  changes: readonly Change[],
  { send, isOfValues, kindOf = () => '' }: Sending<A>,
): Promise<(A | Error)[]> {
  const sendAll = async (some: readonly Change[]): Promise<readonly (A | Error)[]> => {
    try {
      return await send(some);
    } catch (error) {
      if (!isOfValues(error)) throw error;
      if (some.length === 1) return [error as Error];
      const half = Math.ceil(some.length / 2);
      return [...(await sendAll(some.slice(0, half))), ...(await sendAll(some.slice(half)))];
    }
  };
  const statements = statementsOf(changes, kindOf);
  const replies = await oneByOne(statements, sendAll);
  const answers: Map<Change, A | Error> = new Map();
  for (const [i, some] of statements.entries()) {
    const reply = replies[i] as readonly (A | Error)[] | Error;
    for (const [k, change] of some.entries()) {
      answers.set(change, reply instanceof Error ? reply : (reply[k] as A | Error));
    }
  }
  return changes.map((change) => answers.get(change) as A | Error);
}

/** The changes of each statement. */
function statementsOf(changes: readonly Change[], kindOf: (change: Change) => string): Change[][] {
  const statements: Change[][] = [];
  const open: Map<string, { readonly changes: Change[]; size: number }> = new Map();
  for (const change of changes.toSorted((a, b) => inUtf8(a.name, b.name))) {
    const kind = kindOf(change);
    const size = sizeOf(change);
    let last = open.get(kind);
    if (last === undefined || last.changes.length === MOST_NAMES || last.size + size > MOST_CHARACTERS) {
      last = { changes: [], size: 0 };
      open.set(kind, last);
      statements.push(last.changes);
    }
    last.changes.push(change);
    last.size += size;
  }
  return statements;
}

function sizeOf({ swap }: Change): number {
  const texts = [swap?.before, swap?.after, swap?.adds?.text];
  return texts.reduce((size, text = '') => size + text.length, 0);
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
