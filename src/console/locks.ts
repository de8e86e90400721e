import type { LockProvider, LockRecord } from '../cluster/lock-contract.ts';
import type { Store } from '../cluster/store-contract.ts';
import { keptRuns, type TaskRun } from '../cluster/task-runs.ts';
import type { BackendParts } from '../engine/backend.ts';
import { failureText } from '../errors.ts';
import type { RefreshGroup } from '../index.ts';
import { isIdOf, shortId } from './member-access.ts';
import type { Redact } from './redact.ts';
import { TurnsOfOperators } from './turns-of-operators.ts';

/** At most as many records of each lock. */
const MOST_RECORDS = 500;

/** Requests share records for this long, in milliseconds: a page asks once a second. */
const SHARED_MS = 900;

/** Of the time this share is spent on reading records with one prefix. */
const SHARE = 0.1;

/** The answers of this many prefixes are kept. */
const MOST_ANSWERS = 20;

/** A record of one of the locks. */
export interface LockRow extends LockRecord {
  /** Of the lock: its number among all. */
  readonly lock: number;
  /** Names the record in the API. */
  readonly id: string;
  /** The library keeps it for itself; left out: it is of a member, a key or a task. */
  readonly isInternal?: true;
}

/** The records of the library itself: the audit of the console, pauses and schedules of all instances. */
const INTERNAL = /(^|\/)tickless-(console|control)/;

/** The records of all locks, or of those that answer. */
export interface ListedLocks {
  /** Epoch milliseconds by the clock of this instance: ages count from here. */
  readonly at: number;
  readonly records: readonly LockRow[];
  readonly errors: readonly string[];
  /** How long it took to read them, in milliseconds. */
  readonly took: number;
}

/** A record that the API names, at its lock. */
export interface FoundLock {
  readonly lock: LockProvider;
  /** Of the lock: its number among all. */
  readonly at: number;
  /** The full name. */
  readonly name: string;
}

/** Each once: two lock objects of one backend have the same records. The first one is kept. */
function withoutTwins(records: readonly LockRow[]): LockRow[] {
  const ids = new Map<string, LockRow>();
  for (const record of records) {
    const id = JSON.stringify([record.name, record.token, record.owner]);
    if (!ids.has(id)) ids.set(id, record);
  }
  return [...ids.values()];
}

/** All locks: those of members, of the console itself, and further ones. */
export class Locks {
  readonly #group: RefreshGroup;
  readonly #more: readonly BackendParts[];
  readonly #redact: Redact;
  readonly #turns: TurnsOfOperators = new TurnsOfOperators();
  readonly #listed: Map<string, { readonly answer: Promise<ListedLocks>; until: number }> = new Map();

  constructor(group: RefreshGroup, more: readonly BackendParts[], redact: Redact) {
    this.#group = group;
    this.#more = more;
    this.#redact = redact;
  }

  /** In the order in which members use them. */
  all(): readonly LockProvider[] {
    const used = this.#backends.flatMap(({ lock }) => (lock === undefined ? [] : [lock as LockProvider]));
    return [...new Set(used)];
  }

  /**
   * The records of all of them whose names begin with a text. A lock that does not answer has an error. The same answer is given
   * for a while; another one is read when those before it have been. Rejects with `TooMany`.
   *
   * @param by the id of the operator.
   */
  list(prefix: string, by: string): Promise<ListedLocks> {
    const known = this.#listed.get(prefix);
    if (known !== undefined && performance.now() < known.until) return known.answer;
    const listed = { answer: this.#turns.run(by, () => this.#read(prefix)), until: Infinity };
    this.#listed.delete(prefix);
    this.#listed.set(prefix, listed);
    const [oldest] = this.#listed.keys();
    if (this.#listed.size > MOST_ANSWERS && oldest !== undefined) this.#listed.delete(oldest);
    listed.answer.then(
      ({ took }) => {
        listed.until = performance.now() + Math.max(SHARED_MS, took / SHARE);
      },
      () => this.#listed.delete(prefix), // of that operator only
    );
    return listed.answer;
  }

  /** A record was changed here. */
  changed(): void {
    this.#listed.clear();
  }

  async #read(prefix: string): Promise<ListedLocks> {
    const begun = performance.now();
    const options = { limit: MOST_RECORDS, ...(prefix === '' ? {} : { prefix }) };
    const answers = await Promise.allSettled(this.all().map((lock) => lock.list(options)));
    const records = answers.flatMap((answer, lock) =>
      answer.status === 'fulfilled' ? answer.value.map((record) => this.#row(record, lock)) : [],
    );
    const errors = answers.flatMap((answer) =>
      answer.status === 'rejected'
        ? [answer.reason instanceof Error ? failureText(answer.reason) : String(answer.reason)]
        : [],
    );
    const took = performance.now() - begun;
    return { at: Date.now(), records: withoutTwins(records), errors: [...new Set(errors)], took };
  }

  #row(record: LockRecord, lock: number): LockRow {
    const isInternal = INTERNAL.test(record.name);
    return { ...record, lock, id: shortId(record.name, this.#redact), ...(isInternal ? { isInternal } : {}) };
  }

  /** The last runs of a locked task, newest first, by the first of the backends that has some. Rejects when none answers. */
  async runs(id: string, at: unknown): Promise<readonly TaskRun[]> {
    const found = await this.find(id, at);
    if (found === undefined) return [];
    const stores = new Set(this.#backends.flatMap(({ store }) => (store === undefined ? [] : [store])));
    for (const store of stores) {
      const runs = await keptRuns(store as Store, found.name);
      if (runs.length > 0) return runs;
    }
    return [];
  }

  get #backends(): readonly BackendParts[] {
    return [...this.#group.members(), ...this.#more];
  }

  /** Rejects when the lock does not answer. */
  async find(id: string, at: unknown): Promise<FoundLock | undefined> {
    const lock = typeof at === 'number' ? this.all()[at] : undefined;
    if (lock === undefined) return undefined;
    if (!id.startsWith('#')) return { lock, at: at as number, name: id };
    const record = (await lock.list({ limit: MOST_RECORDS })).find(({ name }) => isIdOf(id, name));
    return record && { lock, at: at as number, name: record.name };
  }
}
