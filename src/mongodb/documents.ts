import { commandTimeoutMs } from '../cluster/time-limits.ts';
import { OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { after, type MongoCollection } from './collection.ts';

/** Options of a MongoDB lock or store, as far as they concern its documents. */
export interface MongoDocumentsOptions {
  readonly collection: MongoCollection;
  readonly timeout?: DurationLike | undefined;
  readonly retention?: DurationLike | undefined;
}

/** A document as the driver returns it. */
export type MongoDocument = Readonly<{ _id: string } & Record<string, unknown>>;

/** An update of one document. */
export interface MongoChange {
  readonly filter: { readonly _id: string };
  readonly pipeline: object[];
}

/** Error code of a duplicate `_id`: two concurrent upserts of a new name. */
const DUPLICATE_KEY = 11_000;
const MAX_ATTEMPTS = 4;

/** Greatest `maxTimeMS` that the server accepts. */
const MAX_TIME_MS = 2 ** 31 - 1;

/** The documents of a lock or a store: one per name, which is its `_id`. */
export class MongoDocuments {
  readonly #collection: MongoCollection;
  readonly #retentionMs: number;
  readonly #timeoutMs: number;
  /** A document of this process expires. */
  #needsIndex = false;
  #hasIndex = false;

  /**
   * @param about the subject of errors: 'lock' or 'store'.
   * @throws {OptionError} when one of these options breaks a rule; `createLock` and `createStore` check the common ones.
   */
  constructor(about: 'lock' | 'store', options: MongoDocumentsOptions) {
    const { collection, retention = { days: 7 }, timeout } = options ?? {};
    const checks = new OptionChecks(about);
    checks.methods('collection', collection, ['findOneAndUpdate', 'aggregate', 'deleteOne', 'createIndex']);
    this.#retentionMs = checks.duration('retention', retention);
    checks.done();
    this.#collection = collection;
    this.#timeoutMs = commandTimeoutMs(about, timeout);
  }

  /**
   * Expiry of a document that is in use for `usedForMs` more milliseconds; `null`: never.
   *
   * @param keepFor how long it is kept after that, if that is shorter than the retention.
   */
  expiry(usedForMs: number, keepFor: number = Infinity): object | null {
    const keptMs = Math.min(this.#retentionMs, keepFor);
    if (keptMs === Infinity) return null;
    this.#needsIndex = true;
    return after(usedForMs + keptMs);
  }

  /** Replaces a document by the result of the pipeline, or creates it. @returns the new document. */
  async put(name: string, pipeline: object[], projection: object = {}): Promise<MongoDocument> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const found = await this.#update({ _id: name }, pipeline, { upsert: true, projection });
        if (found === undefined) throw new Error('the server has returned no document');
        return found;
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isDuplicateKey(error)) throw error;
      }
    }
  }

  /** Changes the document that matches a filter. @returns whether one matched. */
  async change(filter: object, pipeline: object[]): Promise<boolean> {
    return (await this.#update(filter, pipeline, { projection: { _id: 1 } })) !== undefined;
  }

  /** Whether `putEach` and `changeEach` are there. */
  get changesMany(): boolean {
    return typeof this.#collection.bulkWrite === 'function';
  }

  /** `put` of several documents in one command. @returns the errors of those that failed, by name. */
  async putEach(changes: readonly MongoChange[]): Promise<ReadonlyMap<string, Error>> {
    for (let attempt = 1, left = changes; ; attempt += 1) {
      const { errors } = await this.changeEach(left, true);
      const again = left.filter(({ filter }) => isDuplicateKey(errors.get(filter._id)));
      if (again.length === 0 || attempt === MAX_ATTEMPTS) return errors;
      left = again;
    }
  }

  /** `change` of several documents in one command. @returns how many matched, and the errors of those that failed. */
  async changeEach(
    changes: readonly MongoChange[],
    upsert = false,
  ): Promise<{ readonly matched: number; readonly errors: ReadonlyMap<string, Error> }> {
    const operations = changes.map(({ filter, pipeline }) => ({
      updateOne: { filter, update: pipeline, upsert },
    }));
    try {
      const done = await this.#collection.bulkWrite?.(operations as never[], {
        ...this.#safely,
        ordered: false,
      });
      this.#makeIndex();
      return { matched: done?.matchedCount ?? 0, errors: new Map() };
    } catch (error) {
      const { writeErrors, result } = error as BulkWriteError;
      const failed = [writeErrors ?? []].flat();
      if (failed.length === 0) throw error;
      const nameAt = (index: number): string => changes[index]?.filter._id as string;
      return {
        matched: result?.matchedCount ?? 0,
        errors: new Map(failed.map((one) => [nameAt(one.index), one])),
      };
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

  /** The server aborts a command when the caller stops waiting for it. */
  get #inTime(): object {
    return { maxTimeMS: Math.min(Math.ceil(this.#timeoutMs), MAX_TIME_MS) };
  }

  /** A write that the majority of a replica set has acknowledged survives a failover. */
  get #safely(): object {
    return { ...this.#inTime, writeConcern: { w: 'majority' } };
  }

  /** Creates the TTL index once, after the first successful step that needs it. Errors are ignored: an index is optional. */
  #makeIndex(): void {
    if (this.#hasIndex || !this.#needsIndex) return;
    this.#hasIndex = true;
    this.#collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 }).catch(() => {});
  }
}

/** Used part of the error of a `bulkWrite` of which some operations failed. */
interface BulkWriteError {
  readonly writeErrors?: WriteError | readonly WriteError[];
  readonly result?: { readonly matchedCount?: number };
}

type WriteError = Error & { readonly index: number };

function isDuplicateKey(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === DUPLICATE_KEY;
}
