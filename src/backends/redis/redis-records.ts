import { LOCK, REPORT } from '../../records/names.ts';
import type { Answer, Edit, ListedEdition, Records, Row } from '../../records/records.ts';
import { systemClock } from '../../time/clock.ts';
import { answerOf, argsOf, EDIT, editionOf, LISTED } from './edit-script.ts';
import { RedisHashes, type RedisHashesOptions } from './hashes.ts';
import { INDEXED_FOR_MS, indexCall, type NameIndex, unindexCall } from './name-index.ts';
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
};

/** Reports share a slot of a cluster, with their index; that of locks has one of its own. */
const REPORTS: NameIndex = { key: '{report}', records: '{report}/' };
const LOCKS: NameIndex = { key: '{lock}', records: LOCK };

/** The most names that were added to an index in another slot, and are remembered. */
const MOST_INDEXED = 10_000;

/** In a cluster: after this number of new names twice as many are looked at. */
const SWEPT_AFTER = 50;

/** Characters take up to four bytes. */
const BYTES_OF_CHARACTER = 4;

/** Records in Redis: one hash for each name. */
export class RedisRecords implements Records {
  readonly mostEdits: number = MOST_EDITS;
  readonly #hashes: RedisHashes;
  readonly #indexedAt: Map<string, number> = new Map();
  /** Names that were added for the first time since the last sweep. */
  #added = 0;

  /** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
  constructor(part: 'lock' | 'store', options: RedisHashesOptions) {
    this.#hashes = new RedisHashes(part, options);
  }

  /** In a cluster names may be in several slots, which are as many commands. */
  get sharesCommands(): boolean {
    return !this.#hashes.isSlotted;
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const calls = edits.map((edit) => callOf(edit.name, edit.op, ...argsOf(edit)));
    const reports = namesOf(edits, 'put', REPORT);
    const indexed = reports.length > 0 ? [indexCall(REPORTS, reports)] : [];
    const locks = namesOf(edits, 'claim', LOCK);
    if (this.#hashes.isSlotted) this.#indexElsewhere(locks);
    else if (locks.length > 0) indexed.push(indexCall(LOCKS, locks));
    return this.#run(calls, indexed, Math.min(...edits.map(({ op }) => PATIENCE[op])));
  }

  /** The index is in another slot, which is a command more, for each name once in a while. No caller waits for it. */
  #indexElsewhere(locks: readonly string[]): void {
    const now = systemClock.monotonic();
    const wanted = locks.filter((name) => (this.#indexedAt.get(name) ?? -Infinity) < now - INDEXED_FOR_MS);
    if (wanted.length === 0) return;
    this.#added += wanted.filter((name) => !this.#indexedAt.has(name)).length;
    for (const name of wanted) this.#indexedAt.set(name, now);
    for (const name of this.#indexedAt.keys()) {
      if (this.#indexedAt.size <= MOST_INDEXED) break;
      this.#indexedAt.delete(name);
    }
    this.#hashes.runMany(EDIT, [indexCall(LOCKS, wanted)]).catch(() => {
      for (const name of wanted) this.#indexedAt.delete(name);
    });
    if (this.#added < SWEPT_AFTER) return;
    this.#sweep(2 * this.#added).catch(() => {});
    this.#added = 0;
  }

  /** Removes names without records, of `count` that it looks at: so at most some half of those that were not added lately have none. */
  async #sweep(count: number): Promise<void> {
    const names = await this.#hashes.someNames(LOCKS.key, count);
    const { answers } = await this.#run(names.map((name) => callOf(LOCK + name, 'read', -1, '', LISTED)));
    const gone = names.filter((_, i) => {
      const answer = answers[i];
      return !(answer instanceof Error) && answer?.row === undefined;
    });
    if (gone.length > 0) this.#unindex(LOCKS, gone);
  }

  async #run(
    calls: readonly NameCall[],
    more: readonly NameCall[] = [],
    patience: number = PATIENCE.read,
  ): ReturnType<Records['apply']> {
    const replies = await this.#hashes.runMany(EDIT, [...calls, ...more], patience);
    let now = 0;
    const answers = calls.map((_, i): Answer | Error => {
      const reply = replies[i];
      if (reply instanceof Error) return reply;
      const answered = answerOf(reply);
      now = answered.now;
      return answered.answer;
    });
    return { now, answers };
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const kind = prefix.startsWith(REPORT) ? REPORT : LOCK;
    const index = kind === REPORT ? REPORTS : LOCKS;
    const rows: (readonly [string, Row])[] = [];
    let now = 0;
    for await (const names of this.#hashes.names(index.key, prefix.slice(kind.length), limit)) {
      const page = await this.#run(names.map((name) => callOf(kind + name, 'read', -1, '', LISTED)));
      now = page.now;
      for (const [i, answer] of page.answers.entries()) {
        if (answer instanceof Error) throw answer; // a list without the names of a slot would look whole
        if (answer.row !== undefined) rows.push([`${kind}${names[i]}`, answer.row]);
      }
      const expired = names.filter((_, i) => (page.answers[i] as Answer).row === undefined);
      if (expired.length > 0) this.#unindex(index, expired);
      if (rows.length >= limit) break;
    }
    return { now, rows: rows.slice(0, limit) };
  }

  /** Behind. One that is claimed meanwhile stays. */
  #unindex(index: NameIndex, names: readonly string[]): void {
    const isApart = index === LOCKS && this.#hashes.isSlotted;
    this.#hashes.runMany(EDIT, [unindexCall(index, names, isApart)]).catch(() => {});
  }

  async editions(name: string, beginning: number): Promise<ListedEdition[]> {
    const call = callOf(name, 'editions', BYTES_OF_CHARACTER * beginning);
    const [reply] = await this.#hashes.runMany(EDIT, [call]);
    if (reply instanceof Error) throw reply;
    return (reply as unknown[]).map(editionOf);
  }

  async warning(): Promise<string | undefined> {
    const policy = await this.#hashes.evictionPolicy();
    if (policy === undefined) return undefined;
    return `the Redis server evicts keys when its memory is full (maxmemory-policy ${policy}): leases and holds may be lost, expected noeviction`;
  }
}

function keyOf(name: string): string {
  return name.startsWith(REPORT) ? REPORTS.records + name.slice(REPORT.length) : name;
}

/** The names of those edits, without their beginning. */
function namesOf(edits: readonly Edit[], op: Edit['op'], beginning: string): string[] {
  const own = edits.filter((edit) => edit.op === op && edit.name.startsWith(beginning));
  return own.map(({ name }) => name.slice(beginning.length));
}

function callOf(name: string, op: string, ...args: readonly unknown[]): NameCall {
  return { name: keyOf(name), args: [op, ...args.map((one) => String(one ?? ''))] };
}
