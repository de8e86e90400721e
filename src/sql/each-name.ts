import { oneByOne } from '../cluster/one-by-one.ts';

/** The most names of one statement, and the most characters of their values, unless it has only one name. */
const MOST_NAMES = 500;
const MOST_CHARACTERS = 1_000_000;

/** A step for several names, in as few statements as possible. */
export interface EachName<Q, A> {
  readonly nameOf: (request: Q) => string;
  /** Requests of different kinds are sent in different statements. @default all are of one kind */
  readonly kindOf?: (request: Q) => string;
  /** In characters. @default 0 */
  readonly sizeOf?: (request: Q) => number;
  /** Sends one statement for requests of one kind, ordered by name. @returns the answers by name. */
  readonly send: (requests: readonly Q[]) => Promise<ReadonlyMap<string, A | Error>>;
  /** The answer for a name that `send` has not returned. */
  readonly missing: () => A | Error;
  /** The statement failed because of one of its values, without effect. */
  readonly isOfValues: (error: unknown) => boolean;
}

/**
 * Sends all requests. All statements contain their names in one order, that of UTF-8 and of the index, so that sessions
 * never wait for each other's rows in a circle. A statement that fails because of a value is sent again in halves, so that
 * this name fails alone. Any other failure is that of all names of the statement.
 *
 * @returns the answers in the order of the requests. Rejects if all statements have failed.
 */
export async function eachName<Q, A>(requests: readonly Q[], step: EachName<Q, A>): Promise<(A | Error)[]> {
  const { nameOf, send, missing, isOfValues } = step;
  const sendAll = async (some: readonly Q[]): Promise<ReadonlyMap<string, A | Error>> => {
    try {
      return await send(some);
    } catch (error) {
      if (!isOfValues(error)) throw error;
      if (some.length === 1) return new Map([[nameOf(some[0] as Q), error as Error]]);
      const half = Math.ceil(some.length / 2);
      return new Map([...(await sendAll(some.slice(0, half))), ...(await sendAll(some.slice(half)))]);
    }
  };
  const statements = statementsOf(requests, step);
  const replies = await oneByOne(statements, sendAll);
  const answers: Map<string, A | Error> = new Map();
  for (const [i, reply] of replies.entries()) {
    const found =
      reply instanceof Error
        ? (statements[i] as Q[]).map((request) => [nameOf(request), reply] as const)
        : reply;
    for (const [name, answer] of found) answers.set(name, answer);
  }
  return requests.map((request) => {
    const name = nameOf(request);
    return answers.has(name) ? (answers.get(name) as A | Error) : missing();
  });
}

/** The requests of each statement. */
function statementsOf<Q>(
  requests: readonly Q[],
  { nameOf, kindOf = () => '', sizeOf = () => 0 }: EachName<Q, unknown>,
): Q[][] {
  const statements: Q[][] = [];
  const open: Map<string, { readonly names: Q[]; size: number }> = new Map();
  for (const request of requests.toSorted((a, b) => inUtf8(nameOf(a), nameOf(b)))) {
    const kind = kindOf(request);
    const size = sizeOf(request);
    let last = open.get(kind);
    if (last === undefined || last.names.length === MOST_NAMES || last.size + size > MOST_CHARACTERS) {
      last = { names: [], size: 0 };
      open.set(kind, last);
      statements.push(last.names);
    }
    last.names.push(request);
    last.size += size;
  }
  return statements;
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
