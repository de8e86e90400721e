import {
  type LockProvider,
  type LockRecord,
  type RefreshGroup,
  type Store,
  type TaskRun,
  taskRuns,
} from '../index.ts';
import { shortId } from './short-id.ts';

/** At most as many records of each lock. */
const MOST_RECORDS = 500;

/** A record of one of the locks. */
export interface LockRow extends LockRecord {
  /** Of the lock: its number among all. */
  readonly lock: number;
  /** Names the record in the API. */
  readonly id: string;
}

/** A record that the API names, at its lock. */
export interface FoundLock {
  readonly lock: LockProvider;
  /** Of the lock: its number among all. */
  readonly at: number;
  /** The full name. */
  readonly name: string;
}

/** All locks: those of members, of the console itself, and further ones. */
export class Locks {
  readonly #group: RefreshGroup;
  readonly #more: readonly LockProvider[];

  constructor(group: RefreshGroup, more: readonly LockProvider[]) {
    this.#group = group;
    this.#more = more;
  }

  /** In the order in which members use them. */
  all(): readonly LockProvider[] {
    const used = this.#group
      .members()
      .flatMap(({ lock }) => (lock === undefined ? [] : [lock as LockProvider]));
    return [...new Set([...used, ...this.#more])];
  }

  /** The records of all of them whose names begin with a text. A lock that does not answer has an error. Never rejects. */
  async list(prefix: string): Promise<{
    readonly at: number;
    readonly records: readonly LockRow[];
    readonly errors: readonly string[];
  }> {
    const options = { limit: MOST_RECORDS, ...(prefix === '' ? {} : { prefix }) };
    const answers = await Promise.allSettled(this.all().map((lock) => lock.list(options)));
    const records = answers.flatMap((answer, lock) =>
      answer.status === 'fulfilled'
        ? answer.value.map((record) => ({ ...record, lock, id: shortId(record.name) }))
        : [],
    );
    const errors = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [String((answer.reason as Error)?.message)] : [],
    );
    return { at: Date.now(), records, errors };
  }

  /** The last runs of a locked task, newest first, by the first of these stores that has some. Rejects when none answers. */
  async runs(id: string, at: unknown, more: Store | undefined): Promise<readonly TaskRun[]> {
    const found = await this.find(id, at);
    if (found === undefined) return [];
    const used = this.#group.members().flatMap(({ store }) => (store === undefined ? [] : [store as Store]));
    const stores = [...new Set([...(more === undefined ? [] : [more]), ...used])];
    for (const store of stores) {
      const runs = await taskRuns(store, found.name);
      if (runs.length > 0) return runs;
    }
    return [];
  }

  /** Rejects when the lock does not answer. */
  async find(id: string, at: unknown): Promise<FoundLock | undefined> {
    const lock = typeof at === 'number' ? this.all()[at] : undefined;
    if (lock === undefined) return undefined;
    if (!id.startsWith('#')) return { lock, at: at as number, name: id };
    const record = (await lock.list({ limit: MOST_RECORDS })).find(({ name }) => shortId(name) === id);
    return record && { lock, at: at as number, name: record.name };
  }
}
