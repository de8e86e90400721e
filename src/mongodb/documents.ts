import { OptionChecks } from '../option-checks.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import { after, type MongoCollection } from './collection.ts';

/** What the factories take of the options of a MongoDB lock or store. */
export interface MongoDocumentsOptions {
  readonly collection: MongoCollection;
  readonly timeout?: DurationLike | undefined;
  readonly retention?: DurationLike | undefined;
}

/** As the driver gives it. */
export type MongoDocument = Readonly<{ _id: string } & Record<string, unknown>>;

/** What the collection has another document of: two upserts of a new name met. */
const DUPLICATE_KEY = 11_000;
const MOST_TRIES = 4;

/** Of a limit that the server takes. */
const MOST_MS = 2 ** 31 - 1;

/** The documents of a lock or a store: one for each name, which is its `_id`. */
export class MongoDocuments {
  readonly #collection: MongoCollection;
  readonly #retentionMs: number;
  readonly #timeoutMs: number;
  #hasIndex: boolean;

  /**
   * @param about what they belong to.
   * @throws {OptionError} when an option breaks a rule; those that all locks or stores have are checked elsewhere.
   */
  constructor(about: 'lock' | 'store', options: MongoDocumentsOptions) {
    const { collection, retention = { days: 7 }, timeout = 3000 } = options ?? {};
    const checks = new OptionChecks(about);
    checks.methods('collection', collection, ['findOneAndUpdate', 'aggregate', 'deleteOne', 'createIndex']);
    this.#retentionMs = checks.duration('retention', retention);
    checks.done();
    this.#collection = collection;
    this.#timeoutMs = toMillis(timeout);
    this.#hasIndex = this.#retentionMs === Infinity;
  }

  /** When a document may be deleted that is in use for so many milliseconds from now; `null`: never. */
  expiry(usedForMs: number): object | null {
    return this.#retentionMs === Infinity ? null : after(usedForMs + this.#retentionMs);
  }

  /** Makes a document what the pipeline makes of it; of one that is not there too. @returns it, as it is then. */
  async put(name: string, pipeline: object[], projection: object = {}): Promise<MongoDocument> {
    for (let tries = 1; ; tries += 1) {
      try {
        const found = await this.#update({ _id: name }, pipeline, { upsert: true, projection });
        if (found === undefined) throw new Error('the server has returned no document');
        return found;
      } catch (error) {
        if (tries === MOST_TRIES || (error as { code?: unknown } | null)?.code !== DUPLICATE_KEY) throw error;
      }
    }
  }

  /** The same, of a document that matches. @returns whether there is one. */
  async change(filter: object, pipeline: object[]): Promise<boolean> {
    return (await this.#update(filter, pipeline, { projection: { _id: 1 } })) !== undefined;
  }

  /** Asks the primary: a secondary may be behind, and has a clock of its own. */
  async find(pipeline: object[]): Promise<MongoDocument[]> {
    const cursor = this.#collection.aggregate(pipeline, { ...this.#inTime, readPreference: 'primary' });
    return (await cursor.toArray()) as MongoDocument[];
  }

  /** @returns whether there was one. */
  async delete(name: string): Promise<boolean> {
    const { deletedCount } = await this.#collection.deleteOne({ _id: name }, this.#safely);
    return deletedCount > 0;
  }

  async #update(filter: object, pipeline: object[], options: object): Promise<MongoDocument | undefined> {
    const found = await this.#collection.findOneAndUpdate(filter, pipeline, {
      ...this.#safely,
      returnDocument: 'after',
      includeResultMetadata: false, // as by default from 6 on
      ...options,
    });
    this.#makeIndex();
    return (found ?? undefined) as MongoDocument | undefined;
  }

  /** The server gives up when nobody waits any more. */
  get #inTime(): object {
    return { maxTimeMS: Math.min(Math.ceil(this.#timeoutMs), MOST_MS) };
  }

  /** What the majority of a replica set has taken is not rolled back after a failover. */
  get #safely(): object {
    return { ...this.#inTime, writeConcern: { w: 'majority' } };
  }

  /** Once, and behind the first step that the server has done. Whoever may not, or has made it, needs none. */
  #makeIndex(): void {
    if (this.#hasIndex) return;
    this.#hasIndex = true;
    this.#collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 }).catch(() => {});
  }
}
