// A backend of your own: over an object store with conditional writes, such as S3 (`ETag`, `If-Match`, `If-None-Match: *`) or
// Deno KV (`versionstamp`). Each record is an object; a long value is an object of its own.
import { RefreshingValue } from 'tickless';
import {
  type Backend,
  type BackendOptions,
  type Cells,
  type Change,
  createBackend,
  type Seen,
  type Swap,
} from 'tickless/backend';

/**
 * What is used of the service. `now` is its clock, the same for all instances, in milliseconds. The header `Date` has whole
 * seconds: taken as it is, two instances may have one lease for up to a second.
 */
export interface ObjectStore {
  /** GET. Without a `revision` there is no such object. */
  get(key: string): Promise<{ now: number; revision?: string; text?: string }>;
  /** PUT if it still has that revision; without one, if there is none. @returns false: it was not so (412, or 409). */
  put(key: string, text: string, revision: string | undefined): Promise<boolean>;
  /** DELETE; with a revision, if it still has that one. */
  delete(key: string, revision?: string): Promise<boolean>;
  /** The first keys that begin with that text, in order. */
  list(prefix: string, limit: number): Promise<{ now: number; keys: string[] }>;
}

/** The object of a name. */
interface Kept {
  readonly text: string;
  readonly main?: string | undefined;
  /** The ids of its long texts. */
  readonly longs: readonly string[];
  /** `null`: for ever. */
  readonly until: number | null;
}

/** What was read under a name. */
interface Found {
  readonly now: number;
  readonly revision?: string;
  readonly kept: Kept | undefined;
}

const longKey = (name: string, id: string): string => `long/${id}/${name}`;

export class ObjectCells implements Cells {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /** Of any number of names: a check asks about all at once. Each may fail alone. */
  async swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    let now = 0;
    const answers = await Promise.all(
      changes.map(async ({ name, swap, isWhole, known }): Promise<Seen | Error> => {
        try {
          const found = await this.#read(name);
          now = Math.max(now, found.now);
          return await (swap === undefined
            ? this.#look(name, found.kept, isWhole ? known : found.kept?.main)
            : this.#swap(name, swap, found));
        } catch (error) {
          return error as Error;
        }
      }),
    );
    if (answers.every((answer) => answer instanceof Error)) throw answers[0];
    return { now, answers };
  }

  async #look(name: string, kept: Kept | undefined, known: string | undefined): Promise<Seen> {
    const main = kept?.main === known ? undefined : kept?.main;
    const long = main === undefined ? undefined : await this.#objects.get(longKey(name, main));
    return { isDone: false, text: kept?.text, main: long?.text };
  }

  async #swap(name: string, swap: Swap, { kept, revision, now }: Found): Promise<Seen> {
    const { before, after, main, adds, drops, keepForMs } = swap;
    if (kept?.text !== before) return { isDone: kept !== undefined && kept.text === after, text: kept?.text }; // done: its answer was lost
    if (adds !== undefined) await this.#objects.put(longKey(name, adds.id), adds.text, undefined);
    const longs = [...(kept?.longs ?? []), ...(adds === undefined ? [] : [adds.id])].filter(
      (id) => !drops.includes(id),
    );
    const next =
      after !== undefined &&
      JSON.stringify({ text: after, main, longs, until: now + keepForMs } satisfies Kept);
    const isDone =
      next === false
        ? await this.#objects.delete(name, revision)
        : await this.#objects.put(name, next, revision);
    if (!isDone) {
      if (adds !== undefined) await this.#objects.delete(longKey(name, adds.id));
      return { isDone, text: (await this.#read(name)).kept?.text };
    }
    await this.#deleteLongs(name, next === false ? (kept?.longs ?? []) : drops);
    return { isDone };
  }

  async #read(name: string): Promise<Found> {
    const { text, ...rest } = await this.#objects.get(name);
    return { ...rest, kept: text === undefined ? undefined : keptIn(text) };
  }

  async #deleteLongs(name: string, ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.#objects.delete(longKey(name, id))));
  }

  async long(name: string, ids: readonly string[]): ReturnType<Cells['long']> {
    return Promise.all(ids.map(async (id) => (await this.#objects.get(longKey(name, id))).text));
  }

  /** Also deletes what is kept no longer: the service does not know. */
  async list(prefix: string, limit: number): ReturnType<Cells['list']> {
    const { keys, now } = await this.#objects.list(prefix, limit);
    const found = keys.map(async (name) => {
      const { kept, revision } = await this.#read(name);
      if (kept === undefined) return [];
      if (kept.until === null || kept.until > now) return [[name, kept.text] as const];
      if (await this.#objects.delete(name, revision)) await this.#deleteLongs(name, kept.longs);
      return [];
    });
    return { now, texts: (await Promise.all(found)).flat() };
  }
}

/** An object that somebody has damaged has an empty text, which the next step replaces. */
function keptIn(text: string): Kept {
  try {
    const kept = JSON.parse(text);
    if (typeof kept?.text === 'string' && Array.isArray(kept.longs)) return kept;
  } catch {
    // no JSON
  }
  return { text: '', longs: [], until: null };
}

/** Once a process. A key of S3 has at most 1024 bytes; that of a long text has 42 more than its name, of which nine tell its kind. */
export function objectBackend(objects: ObjectStore, options?: BackendOptions): Backend {
  return createBackend(new ObjectCells(objects), options, { longestName: 1024 - 51 });
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

  async delete(
    key: string,
    revision: string | undefined = this.#objects.get(key)?.revision,
  ): Promise<boolean> {
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
