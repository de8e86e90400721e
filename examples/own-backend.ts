// A backend of your own: over an object store with conditional writes, such as S3 (`ETag`, `If-Match`, `If-None-Match: *`) or
// Deno KV (`versionstamp`). Each record is an object: a JSON text with the value and its earlier versions, of several MB where
// the value is that long. The records of the lock are objects of their own, and small.
import { RefreshingValue } from 'tickless';
import type { Answer, Backend, BackendOptions, Edit, Records, StoredRecord } from 'tickless/backend';
import { applied, createBackend, editionsIn, isExpired, rowOf } from 'tickless/backend';

/**
 * What is used of the service. `now` is its clock, the same for all instances, in milliseconds. The header `Date` has whole
 * seconds: taken as it is, two instances may have one lease for up to a second.
 */
export interface ObjectStore {
  /** GET. Without a `revision` there is no such object. */
  get(key: string): Promise<{ now: number; revision?: string; text?: string }>;
  /** PUT if it still has that revision; without one, if there is none. @returns false: it was not so (412, or 409). */
  put(key: string, text: string, revision: string | undefined): Promise<boolean>;
  /** DELETE if it still has that revision. */
  delete(key: string, revision: string | undefined): Promise<boolean>;
  /** The first keys that begin with that text, in order. */
  list(prefix: string, limit: number): Promise<{ now: number; keys: string[] }>;
}

export class ObjectRecords implements Records {
  readonly mostEdits = 1; // a request is about one object: nothing is gained by joining the steps of keys
  readonly sharesCommands = false; // nor by a report with each of them
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /** Of any number of names: a check of the store asks about all at once. Each may fail alone. */
  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const results = await Promise.all(edits.map((edit) => this.#edit(edit).catch((error: Error) => error)));
    const done = results.flatMap((result) => (result instanceof Error ? [] : [result]));
    if (done.length === 0) throw results[0];
    const answers = results.map((result) => (result instanceof Error ? result : result.answer));
    return { now: Math.max(...done.map(({ now }) => now)), answers };
  }

  /** Decides by what it has read, and begins again where another instance has changed that meanwhile. */
  async #edit(edit: Edit): Promise<{ now: number; answer: Answer }> {
    for (;;) {
      const { record, revision, now } = await this.#read(edit.name);
      const { next, answer } = applied(record, edit, { at: now, wall: now });
      if (next === record || (await this.#replace(edit.name, revision, next))) return { now, answer };
    }
  }

  async #read(name: string): Promise<{ record: StoredRecord | undefined; revision?: string; now: number }> {
    const { text, ...rest } = await this.#objects.get(name);
    return { ...rest, record: text === undefined ? undefined : recordIn(text) };
  }

  #replace(name: string, revision: string | undefined, next: StoredRecord | undefined): Promise<boolean> {
    if (next === undefined) return this.#objects.delete(name, revision);
    return this.#objects.put(name, JSON.stringify(next), revision);
  }

  /** Also deletes what has expired: the service does not know. */
  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const { keys, now } = await this.#objects.list(prefix, limit);
    const rows = keys.map(async (key) => {
      const { record, revision, now } = await this.#read(key);
      if (record === undefined) return [];
      if (!isExpired(record, now)) return [[key, rowOf(record, { at: now, wall: now }, String)] as const];
      await this.#objects.delete(key, revision);
      return [];
    });
    return { now, rows: (await Promise.all(rows)).flat() };
  }

  async editions(name: string, beginning: number): ReturnType<Records['editions']> {
    const { record, now } = await this.#read(name);
    return editionsIn(record, { at: now, wall: now }, beginning);
  }
}

/** A text that somebody has damaged counts as none, and the next edit replaces it. `edited` judges the other fields. */
function recordIn(text: string): StoredRecord | undefined {
  try {
    const record = JSON.parse(text);
    return typeof record?.text === 'string' && Array.isArray(record.older) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Once a process. A key of S3 has at most 1024 bytes, of which nine are for the kind of the record. */
export function objectBackend(objects: ObjectStore, options?: BackendOptions): Backend {
  return createBackend(new ObjectRecords(objects), options, { longestName: 1024 - 9 });
}

/** Stands for the service. */
export class ObjectsInMemory implements ObjectStore {
  readonly #objects = new Map<string, { revision: string; text: string }>();
  #puts = 0;

  async get(key: string): ReturnType<ObjectStore['get']> {
    return { now: Date.now(), ...this.#objects.get(key) };
  }

  async put(key: string, text: string, revision: string | undefined): Promise<boolean> {
    if (this.#objects.get(key)?.revision !== revision) return false;
    this.#objects.set(key, { text, revision: `${++this.#puts}` });
    return true;
  }

  async delete(key: string, revision: string | undefined): Promise<boolean> {
    return this.#objects.get(key)?.revision === revision && this.#objects.delete(key);
  }

  async list(prefix: string, limit: number): ReturnType<ObjectStore['list']> {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return { now: Date.now(), keys: keys.slice(0, limit) };
  }
}

async function main(): Promise<void> {
  const objects = new ObjectsInMemory();
  let loads = 0;
  const instance = () =>
    new RefreshingValue({
      name: 'rates',
      load: async () => ({ USD: 1.08, loads: ++loads }),
      schedule: { minutes: 10 },
      backend: objectBackend(objects, { keepVersions: 3, timeout: { seconds: 5 } }), // 5 s: some MB take their time
      logger: false, // without it a pin is logged too
    });
  const [here, there] = [instance(), instance()];
  console.log(`here ${(await here.get()).USD}, there ${(await there.get()).USD}, ${loads} load`);

  await here.set({ USD: 108, loads }); // a slip
  await here.rollback({ by: 'ann' });
  console.log(`back to ${here.current.USD}, of ${(await there.history()).length} versions`);
  console.log((await objects.list('', 10)).keys);
  await Promise.all([here.close(), there.close()]);
}

if (process.argv[1] === import.meta.filename) await main();
