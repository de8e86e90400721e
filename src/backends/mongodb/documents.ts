import type { Change } from './changes.ts';
import type { MongoCollection } from './collection.ts';

/** A document as the driver returns it. */
export type MongoDocument = Readonly<{ _id: string } & Record<string, unknown>>;

/** Error code of a duplicate `_id`: two concurrent upserts of a new name. */
const DUPLICATE_KEY = 11_000;
const MAX_ATTEMPTS = 4;

/** Greatest `maxTimeMS` that the server accepts. */
const MAX_TIME_MS = 2 ** 31 - 1;

/** The documents of a collection, one for each name, which is its `_id`. */
export class MongoDocuments {
  readonly #collection: MongoCollection;
  readonly #timeoutMs: number;
  #hasIndex = false;

  constructor(collection: MongoCollection, timeoutMs: number) {
    this.#collection = collection;
    this.#timeoutMs = timeoutMs;
  }

  /** @returns the document after the change, without the fields that are hidden. `undefined`: none matches the filter. */
  async change(change: Change, hides: object): Promise<MongoDocument | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#update(change, hides);
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isDuplicateKey(error)) throw error;
      }
    }
  }

  /** Whether `changeEach` is there. */
  get changesMany(): boolean {
    return typeof this.#collection.bulkWrite === 'function';
  }

  /** Changes several documents in one command. @returns the errors of those that failed, by name. */
  async changeEach(changes: readonly Change[]): Promise<ReadonlyMap<string, Error>> {
    for (let attempt = 1, left = changes; ; attempt += 1) {
      const errors = await this.#bulkWrite(left);
      const again = left.filter(({ filter }) => isDuplicateKey(errors.get(filter._id)));
      if (again.length === 0 || attempt === MAX_ATTEMPTS) return errors;
      left = again;
    }
  }

  async #bulkWrite(changes: readonly Change[]): Promise<ReadonlyMap<string, Error>> {
    const operations = changes.map(({ filter, pipeline, upsert }) => ({
      updateOne: { filter, update: pipeline, upsert },
    }));
    try {
      await this.#collection.bulkWrite?.(operations as never[], { ...this.#safely, ordered: false });
      if (changes.some(({ expires }) => expires)) this.#makeIndex();
      return new Map();
    } catch (error) {
      const failed = [(error as BulkWriteError).writeErrors ?? []].flat();
      if (failed.length === 0) throw error;
      return new Map(failed.map((one) => [changes[one.index]?.filter._id as string, errorOf(one)]));
    }
  }

  /**
   * Reads from the primary: a secondary may lag behind, and has its own clock.
   *
   * @param most how many documents there can be, so that one command returns them.
   */
  async find(pipeline: object[], most: number = 1): Promise<MongoDocument[]> {
    const cursor = this.#collection.aggregate(pipeline, {
      ...this.#inTime,
      readPreference: 'primary',
      ...(most > 100 && { batchSize: most + 1 }),
    });
    return (await cursor.toArray()) as MongoDocument[];
  }

  /** @returns whether there was one. */
  async delete(name: string): Promise<boolean> {
    const { deletedCount } = await this.#collection.deleteOne({ _id: name }, this.#safely);
    return deletedCount > 0;
  }

  async #update(
    { filter, pipeline, upsert, expires }: Change,
    hides: object,
  ): Promise<MongoDocument | undefined> {
    const found = await this.#collection.findOneAndUpdate(filter, pipeline, {
      ...this.#safely,
      returnDocument: 'after',
      includeResultMetadata: false, // as by default from 6 on
      upsert,
      projection: hides,
    });
    if (expires) this.#makeIndex();
    return (found ?? undefined) as MongoDocument | undefined;
  }

  /** The server aborts a command when the caller stops waiting for it. */
  get #inTime(): object {
    return { maxTimeMS: Math.min(Math.ceil(this.#timeoutMs), MAX_TIME_MS) };
  }

  /** A write that the majority of a replica set has acknowledged survives a failover. */
  get #safely(): object {
    return { ...this.#inTime, writeConcern: { w: 'majority' } };
  }

  /** Creates the TTL index once, after the first document that expires. Errors are ignored: an index is optional. */
  #makeIndex(): void {
    if (this.#hasIndex) return;
    this.#hasIndex = true;
    this.#collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 }).catch(() => {});
  }
}

/** Used part of the error of a `bulkWrite` of which some operations failed. */
interface BulkWriteError {
  readonly writeErrors?: WriteError | readonly WriteError[];
}

/** An object of the driver, and no `Error`. */
interface WriteError {
  readonly index: number;
  readonly code?: unknown;
  readonly errmsg?: string | undefined;
}

function errorOf({ code, errmsg }: WriteError): Error {
  return Object.assign(new Error(errmsg), { code });
}

function isDuplicateKey(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === DUPLICATE_KEY;
}
