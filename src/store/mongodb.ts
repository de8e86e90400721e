import { implausibleSnapshot } from '../cluster/plausible.ts';
import type { SnapshotStore, StoredSnapshot, WriteAnswer } from '../cluster/store-contract.ts';
import { isPlausible, type MongoCollection, NOW, next, text } from '../mongodb/collection.ts';
import { MongoDocuments } from '../mongodb/documents.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreEngine, type StoreOptions } from './create-store.ts';

export type { MongoCollection } from '../mongodb/collection.ts';

/** The options of {@link mongodbStore}. */
export interface MongodbStoreOptions extends StoreOptions {
  /**
   * A collection of the official driver (`mongodb` 6 or newer), used by this store only, not by a lock as well: `_id` is
   * the name. The server creates it on first use. You keep ownership: the store closes neither the collection nor its
   * client.
   */
  readonly collection: MongoCollection;
  /**
   * How long a snapshot is kept after its last write. Choose more than the time between two loads: an instance that
   * starts without a snapshot has to load. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A store in MongoDB (4.4 or newer): one document per name. Each step is one command that runs at the primary and uses
 * its clock, to the millisecond; in a sharded cluster the clock of the `mongos` that receives the command. The majority
 * of a replica set acknowledges each write. A document takes at most 16 MB, so a payload some hundred bytes less; a
 * write of a longer one rejects with `StoreUnavailableError`. Names may have any length.
 *
 * The server deletes old snapshots through a TTL index, which the store creates after its first write. Without the
 * right to create an index, create it yourself, or keep all snapshots:
 * `collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 })`. The user needs the rights to find, insert,
 * update and remove.
 *
 * The driver searches for a server for 30 seconds, and then still sends commands that have timed out: give the client a
 * `serverSelectionTimeoutMS` equal to `timeout`.
 *
 * ```ts no-run
 * import { MongoClient } from 'mongodb';
 * import { mongodbStore } from 'tickless/store/mongodb';
 *
 * const client = new MongoClient('mongodb://localhost', { serverSelectionTimeoutMS: 3000 });
 * const store = mongodbStore({ collection: client.db('app').collection('snapshots') });
 * await store.write('rates', '{"EUR":1}');
 * const snapshot = await store.read('rates');
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mongodbStore(options: MongodbStoreOptions): SnapshotStore {
  return createStore(new MongodbStore(options), options, {
    longestName: undefined,
    options: ['collection', 'retention'],
  });
}

class MongodbStore implements StoreEngine {
  readonly #documents: MongoDocuments;

  constructor(options: MongodbStoreOptions) {
    this.#documents = new MongoDocuments('store', options);
  }

  async read(name: string, newerThan: number = -1): Promise<StoredSnapshot | undefined> {
    const isRead = { $or: [{ $gt: ['$version', newerThan] }, { $not: [isPlausible('$version')] }] };
    const isDate = { $eq: [{ $type: '$writtenAt' }, 'date'] };
    const [found] = await this.#documents.find([
      { $match: { _id: name, $expr: isRead } },
      {
        $project: {
          version: 1,
          payload: 1,
          isPlausible: isPlausible('$version'),
          age: { $cond: [isDate, { $subtract: [NOW, '$writtenAt'] }, null] },
        },
      },
    ]);
    if (found === undefined) return undefined;
    const { payload, age } = found;
    if (found.isPlausible !== true) return implausibleSnapshot(found.version);
    return {
      version: Number(found.version),
      age: age === null ? Number.NaN : Number(age),
      payload: payload as string,
    };
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
  ): Promise<WriteAnswer> {
    const written = {
      _id: '$_id',
      version: token ?? next('$version'),
      writtenAt: NOW,
      payload: text(payload),
      expireAt: this.#documents.expiry(0, keepFor),
    };
    const isRejected = { $eq: ['$version', rejected ?? -1] };
    const isNewer = { $and: [isPlausible('$version'), { $gt: ['$version', token] }, { $not: [isRejected] }] };
    const result = token === undefined ? written : { $cond: [isNewer, '$$ROOT', written] };
    const found = await this.#documents.put(name, [{ $replaceWith: result }], { version: 1 });
    const version = Number(found.version);
    return { kind: token === undefined || version === token ? 'written' : 'refused', version };
  }

  async delete(name: string): Promise<boolean> {
    return this.#documents.delete(name);
  }
}
