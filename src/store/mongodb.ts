import type { Store } from '../cluster/store-contract.ts';
import type { MongoCollection } from '../mongodb/collection.ts';
import { openCollection } from '../mongodb/open-collection.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

export type { MongoCollection } from '../mongodb/collection.ts';

/** The options of {@link mongodbStore}. */
export interface MongodbStoreOptions extends StoreOptions {
  /**
   * A collection of the official driver (`mongodb` 6 or newer). A lock may share it: an `_id` is `snapshot/` or `report/` and
   * the name. The server creates it on first use. You keep ownership: the store closes neither the collection nor its client.
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
 * write of a longer one rejects with `StoreUnavailableError`. Names may have any length. With `keepVersions` the older
 * versions are in the same document, as many of them as fit into 16 MB with the present one. The reports of instances are
 * documents of the same collection; a check with a report takes two commands, and none go with reads and writes.
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
 * import { mongodbStore } from 'tickless/mongodb';
 *
 * const client = new MongoClient('mongodb://localhost', { serverSelectionTimeoutMS: 3000 });
 * const store = mongodbStore({ collection: client.db('app').collection('tickless') });
 * await store.write('rates', '{"EUR":1}');
 * const snapshot = await store.read('rates');
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mongodbStore(given: MongodbStoreOptions): Store {
  const options = ownOptions(given);
  const { records, backend } = openCollection('store', options);
  return createStore(new RecordStore(records, options.keepVersions), options, backend);
}
