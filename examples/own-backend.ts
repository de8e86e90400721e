// A backend of your own: over an object store with conditional writes, such as S3 (`ETag`, `If-Match`, `If-None-Match: *`) or
// Deno KV (`versionstamp`). Each record is an object; a rule of the service deletes those that were not written for a week.
import { RefreshingValue } from 'tickless';
import type { Backend, BackendOptions, Cells, Change, Seen, Swap } from 'tickless/backend';
import { createBackend } from 'tickless/backend';

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

/** The object of a name. Its long texts are in it: a value of several MB makes one of several MB. */
interface Kept {
  readonly text: string;
  readonly main?: string | undefined;
  readonly longs: Readonly<Record<string, string>>;
}

export class ObjectCells implements Cells {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /** Of any number of names: a check asks about all at once. Each may fail alone. */
  async swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    const found = changes.map((change) => this.#answer(change).catch((error: Error) => error));
    const answers = await Promise.all(found);
    const instants = answers.flatMap((answer) => (answer instanceof Error ? [] : [answer.now]));
    if (instants.length === 0) throw answers[0];
    return { now: Math.max(...instants), answers };
  }

  async #answer({ name, swap, isWhole, known }: Change): Promise<Seen & { readonly now: number }> {
    const { text, revision, now } = await this.#objects.get(name);
    const kept = text === undefined ? undefined : keptIn(text);
    if (swap === undefined || kept?.text !== swap.before) {
      if (kept !== undefined && kept.text === swap?.after) return { now, isDone: true }; // its answer was lost
      const main = isWhole && kept?.main !== known ? kept?.longs[kept.main ?? ''] : undefined;
      return { now, isDone: false, text: kept?.text, main };
    }
    const next = nextOf(kept, swap);
    const isDone = await (next === undefined
      ? this.#objects.delete(name, revision)
      : this.#objects.put(name, JSON.stringify(next), revision));
    return isDone ? { now, isDone } : this.#answer({ name, isWhole, known }); // another instance was faster
  }

  async long(name: string, ids: readonly string[]): ReturnType<Cells['long']> {
    const { text } = await this.#objects.get(name);
    return ids.map((id) => (text === undefined ? undefined : keptIn(text).longs[id]));
  }

  async list(prefix: string, limit: number): ReturnType<Cells['list']> {
    const { keys, now } = await this.#objects.list(prefix, limit);
    const texts = keys.map(
      async (name) => [name, keptIn((await this.#objects.get(name)).text ?? '').text] as const,
    );
    return { now, texts: await Promise.all(texts) };
  }
}

function nextOf(kept: Kept | undefined, swap: Swap): Kept | undefined {
  const { after: text, main, adds, drops } = swap;
  if (text === undefined) return undefined;
  const longs = Object.entries({ ...kept?.longs, ...(adds && { [adds.id]: adds.text }) });
  const left = longs.filter(([id]) => !drops.includes(id));
  return { text, main, longs: Object.fromEntries(left) };
}

/** An object that was edited by hand has an empty text, which the next step replaces. */
function keptIn(text: string): Kept {
  try {
    const kept = JSON.parse(text);
    if (typeof kept?.text === 'string' && typeof kept.longs === 'object') return kept;
  } catch {
    // no JSON
  }
  return { text: '', longs: {} };
}

/** Once a process. A key of S3 has at most 1024 bytes, of which five are for `name/`. */
export function objectBackend(objects: ObjectStore, options?: BackendOptions): Backend {
  return createBackend(new ObjectCells(objects), options, { longestName: 1024 - 5 });
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
