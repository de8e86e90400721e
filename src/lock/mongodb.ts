import type { MongoCollection } from '../mongodb/collection.ts';
import { openCollection } from '../mongodb/open-collection.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

export type { MongoCollection } from '../mongodb/collection.ts';

/** The options of {@link mongodbLock}. */
export interface MongodbLockOptions extends LockOptions {
  /**
   * A collection of the official driver (`mongodb` 6 or newer). A store may share it: an `_id` is `lock/` and the name. The
   * server creates it on first use. You keep ownership: the lock closes neither the collection nor its client.
   */
  readonly collection: MongoCollection;
  /**
   * How long the record of an unused name is kept, counted from the end of its lease or hold. Over 0; `Infinity`: for
   * ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A lock in MongoDB (4.4 or newer): one document per name. Each step is one `findOneAndUpdate` that runs at the primary
 * and uses its clock, to the millisecond. In a sharded cluster it uses the clock of the `mongos` that receives the
 * command: synchronize their clocks. The majority of a replica set acknowledges each step, so that a failover loses no
 * lease. Names may have any length.
 *
 * The server deletes old records through a TTL index, which the lock creates after its first acquire. Without the right
 * to create an index, create it yourself, or keep all records:
 * `collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 })`. The user needs the rights to find, insert and
 * update.
 *
 * The driver searches for a server for 30 seconds, and then still sends commands that have timed out: give the client a
 * `serverSelectionTimeoutMS` equal to `timeout`.
 *
 * ```ts no-run
 * import { MongoClient } from 'mongodb';
 * import { mongodbLock } from 'tickless/mongodb';
 *
 * const client = new MongoClient('mongodb://localhost', { serverSelectionTimeoutMS: 3000 });
 * const lock = mongodbLock({ collection: client.db('app').collection('tickless') });
 * const answer = await lock.acquire({ name: 'rates' });
 * if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'done', holdFor: 60_000 });
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mongodbLock(given: MongodbLockOptions): Lock {
  const options = ownOptions(given);
  const { records, backend } = openCollection('lock', options);
  return createLock(new RecordLock(records), options, backend);
}
