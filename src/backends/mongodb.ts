import { DEFAULT_TIMEOUT_MS } from '../cluster/time-limits.ts';
import type { Backend } from '../engine/backend.ts';
import { OptionChecks } from '../option-checks.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { SwappedRecords } from '../records/cells/swapped-records.ts';
import { type OpenRecords, RETENTION } from '../records/records-kind.ts';
import { type DurationLike, toMillis } from '../time/duration.ts';
import { backendOn } from './backend.ts';
import type { MongoCollection } from './mongodb/collection.ts';
import { MongoCells } from './mongodb/mongo-cells.ts';

export type { Backend } from '../engine/backend.ts';
export type { MongoCollection } from './mongodb/collection.ts';

/** The options of {@link mongodbBackend}. */
export interface MongodbBackendOptions extends BackendOptions {
  /**
   * A collection of the official driver (`mongodb` 6 or newer): an `_id` is `name/` or `report/` and
   * the name, but for the one that tells the time, `clock`. The server creates it on first use. You keep ownership: neither the collection nor its client is closed.
   */
  readonly collection: MongoCollection;
  /**
   * How long a record is kept: of a lock counted from the end of its lease or hold, of a store from the last write. Choose more
   * than the time between two loads: an instance that starts without a snapshot has to load. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A backend in MongoDB (4.4 or newer): a document for each name. Each step is one command that runs at the primary,
 * and whose answer tells its clock. In a sharded cluster that is the clock of the `mongos` that receives the
 * command: synchronize their clocks. The majority of a replica set acknowledges each step, so that a failover loses no
 * lease. Names may have any length. A document takes at most 16 MB, so a payload some kilobytes less; a longer one is not published.
 * With `keepVersions` the older versions are in the same document, as many of them as fit into 16 MB with the present one. The reports of
 * instances are documents of the same collection; a check with a report takes two commands, and none go with reads and writes.
 *
 * The server deletes old records through a TTL index, which is created after the first acquire and write. Without the right
 * to create an index, create it yourself, or keep all records:
 * `collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 })`. The user needs the rights to find, insert,
 * update and remove.
 *
 * The driver searches for a server for 30 seconds, and then still sends commands that have timed out: give the client a
 * `serverSelectionTimeoutMS` equal to `timeout`.
 *
 * ```ts no-run
 * import { MongoClient } from 'mongodb';
 * import { RefreshingValue } from 'tickless';
 * import { mongodbBackend } from 'tickless/mongodb';
 *
 * const client = new MongoClient('mongodb://localhost', { serverSelectionTimeoutMS: 3000 });
 * const backend = mongodbBackend({ collection: client.db('app').collection('tickless') });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function mongodbBackend(given: MongodbBackendOptions): Backend {
  return backendOn(openMongodb, given);
}

function openMongodb(
  options: MongodbBackendOptions & { readonly timeout?: DurationLike | undefined },
): OpenRecords {
  const { collection, retention = RETENTION, timeout } = options ?? {};
  const checks = new OptionChecks('backend');
  checks.methods('collection', collection, ['findOneAndUpdate', 'aggregate', 'deleteOne', 'createIndex']);
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  const cells = new MongoCells(collection, toMillis(timeout ?? DEFAULT_TIMEOUT_MS));
  return {
    backend: 'mongodb',
    records: new SwappedRecords(cells, retentionMs),
    options: ['collection', 'retention'],
  };
}
