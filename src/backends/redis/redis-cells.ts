import type { Cells, Change, Seen, Swap } from '../../records/cells/cells.ts';
import { isOfLease } from '../../records/cells/is-of-lease.ts';
import type { ServerTime } from '../../records/cells/known-clock.ts';
import { NAME, REPORT } from '../../records/names.ts';
import type { Edit } from '../../records/records.ts';
import { systemClock } from '../../time/clock.ts';
import { CELLS } from './cell-script.ts';
import { RedisHashes, type RedisHashesOptions } from './hashes.ts';
import { durationOf, INDEXED_LONGER_MS, IndexedNames, indexCalls, NAMES, REPORTS } from './name-index.ts';
import type { NameCall } from './script.ts';

/** As many as a member sends in one command. */
const MOST_EDITS = 500;

/**
 * How long a slot of a cluster may be silent where others have answered, as a part of the time-out: less than the caller waits. A
 * reader without a value waits for the store for 0.75 of it, and for the lock after a store that was silent for 1 less that time;
 * others for a time-out, and for a write three.
 */
const PATIENCE: Readonly<Record<Edit['op'], number>> = {
  claim: 0.4,
  read: 0.4,
  amend: 0.8,
  delete: 0.8,
  put: 2.4,
  impose: 2.4,
};

/** Characters take up to four bytes. */
const BYTES_OF_CHARACTER = 4;

/** The reply for a name, after the server's clock. */
type Fields = readonly (string | null)[];

/** Cells in Redis: a hash for each name, and an index of the names of locks and one of those of reports. */
export class RedisCells implements Cells {
  readonly mostEdits: number = MOST_EDITS;
  readonly timeoutMs: number;
  readonly retentionMs: number;
  readonly #hashes: RedisHashes;
  readonly #indexed: IndexedNames = new IndexedNames();

  /** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
  constructor(options: RedisHashesOptions) {
    this.#hashes = new RedisHashes(options);
    this.timeoutMs = this.#hashes.timeoutMs;
    this.retentionMs = this.#hashes.retentionMs;
  }

  /** In a cluster names may be in several slots, which are as many commands. */
  get sharesCommands(): boolean {
    return !this.#hashes.isSlotted;
  }

  async swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    const calls = changes.map((change) => this.#callOf(change));
    const indexed = indexCalls(REPORTS, changes);
    if (!this.#hashes.isSlotted) indexed.push(...indexCalls(NAMES, changes));
    const { now, replies } = await this.#run([...calls, ...indexed], changes.map(opOf));
    const answers = changes.map((change, i) => seenBy(change, replies[i] as Fields | Error));
    if (this.#hashes.isSlotted) this.#indexApart(changes.filter((_, i) => isDone(answers[i])));
    return { now, answers };
  }

  #callOf({ name, swap, isWhole = false, known = '', op = 'read' }: Change): NameCall {
    const retention = name.startsWith(NAME) ? durationOf(this.retentionMs) : '';
    const shown = [flag(isWhole), known, retention];
    if (swap !== undefined) return callOf(name, 'swap', ...shown, ...this.#argsOf(swap));
    return callOf(name, 'look', ...shown, flag(op === 'read' && !isWhole));
  }

  #argsOf({ before, after, main, adds, drops, keepForMs }: Swap): string[] {
    const isBrief = keepForMs < this.retentionMs;
    return [
      ...[flag(before !== undefined), before ?? '', flag(after !== undefined), after ?? '', main ?? ''],
      ...[durationOf(keepForMs), isBrief ? '1' : '', adds?.id ?? '', adds?.text ?? '', ...drops],
    ];
  }

  /** A command more, for each name once in a while. No caller waits for it. */
  #indexApart(changes: readonly Change[]): void {
    const due = this.#indexed.due(changes, systemClock.monotonic());
    const calls = indexCalls(NAMES, due, 'indexApart', INDEXED_LONGER_MS);
    if (calls.length > 0) this.#run(calls, ['claim']).catch(() => this.#indexed.forget(due));
  }

  async long(name: string, ids: readonly string[], most: number): Promise<readonly (string | undefined)[]> {
    const bytes = most === Infinity ? '' : String(BYTES_OF_CHARACTER * most);
    const { replies } = await this.#run([callOf(name, 'long', bytes, ...ids)], ['read']);
    const [texts] = replies;
    if (texts instanceof Error) throw texts;
    return ids.map((_, i) => texts?.[i] ?? undefined);
  }

  async list(prefix: string, limit: number): ReturnType<Cells['list']> {
    const { beginning, key } = prefix.startsWith(REPORT) ? REPORTS : NAMES;
    const call = { name: key, args: ['list', prefix.slice(beginning.length)] };
    let { now, replies } = await this.#run([call], ['read']);
    const [found] = replies;
    if (found instanceof Error) throw found;
    const names = (found ?? []).map((name) => `${beginning}${name}`).sort();
    const texts: (readonly [string, string])[] = [];
    const most = Math.min(limit, MOST_EDITS);
    for (let at = 0; at < names.length && texts.length < limit; at += most) {
      const page = names.slice(at, at + most);
      const { now: then, answers } = await this.swap(page.map((name) => ({ name })));
      now = then;
      for (const [i, seen] of answers.entries()) {
        if (seen instanceof Error) throw seen; // a list without the names of a slot would look whole
        if (seen.text !== undefined) texts.push([page[i] as string, seen.text]);
      }
    }
    return { now, texts };
  }

  async warning(): Promise<string | undefined> {
    const policy = await this.#hashes.evictionPolicy();
    if (policy === undefined) return undefined;
    return `the Redis server evicts keys when its memory is full (maxmemory-policy ${policy}): leases and holds may be lost, expected noeviction`;
  }

  /** Rejects where all calls have failed: then no reply has the clock. */
  async #run(
    calls: readonly NameCall[],
    ops: readonly Edit['op'][],
  ): Promise<{ readonly now: ServerTime; readonly replies: readonly (Fields | Error)[] }> {
    const patience = Math.min(...ops.map((op) => PATIENCE[op]));
    const answers = await this.#hashes.runMany(CELLS, calls, patience, isOfLease(ops));
    if (answers.every((reply) => reply instanceof Error)) throw answers[0];
    const instants: Set<number> = new Set();
    const replies = answers.map((reply) => {
      if (reply instanceof Error) return reply;
      if (!Array.isArray(reply)) throw new Error(`unexpected reply of a script: ${String(reply)}`);
      const [micros, ...fields] = reply as string[];
      instants.add(Number(micros) / 1000);
      return fields;
    });
    return { now: timeOf([...instants]), replies };
  }
}

/** @param instants one for each command: several slots may be on several servers. */
function timeOf(instants: readonly number[]): ServerTime {
  const [earliest, latest] = [Math.min(...instants), Math.max(...instants)];
  return earliest === latest ? earliest : { earliest, latest };
}

function opOf({ op = 'read' }: Change): Edit['op'] {
  return op;
}

function seenBy({ swap }: Change, fields: Fields | Error): Seen | Error {
  if (fields instanceof Error) return fields;
  const [isDone, text, main] = swap === undefined ? ['0', ...fields] : fields;
  return { isDone: isDone === '1', text: text ?? undefined, main: main ?? undefined };
}

function isDone(seen: Seen | Error | undefined): boolean {
  return seen !== undefined && !(seen instanceof Error) && seen.isDone;
}

function callOf(name: string, ...args: readonly string[]): NameCall {
  const key = name.startsWith(REPORT) ? REPORTS.records + name.slice(REPORT.length) : name;
  return { name: key, args };
}

function flag(isSet: boolean): string {
  return isSet ? '1' : '0';
}
