import type { DynamodbOptions } from '../dynamodb/client-types.ts';
import { type DynamodbTable, tableOf } from '../dynamodb/dynamodb-table.ts';
import { openTable } from '../dynamodb/open-table.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import { RecordLock } from './record-lock.ts';

export type * from '../dynamodb/client-types.ts';
export type { DynamodbTable } from '../dynamodb/dynamodb-table.ts';

/** The options of {@link dynamodbLock}. */
export interface DynamodbLockOptions extends LockOptions, DynamodbOptions {
  /** The name or the ARN of a table that exists: see {@link dynamodbLockTable}. @default 'tickless_lock' */
  readonly table?: string | undefined;
  /**
   * How long the record of an unused name is kept at least, counted from the end of its lease or hold: from then on the
   * service may delete it, where its time to live is switched on. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A lock in DynamoDB: an item per name, which is replaced on the condition that it is still as it was. Every read is
 * consistent. Names are at most 2000 bytes long.
 *
 * The clock is that of the service, by the header `Date` of its responses, which counts seconds: at first it is known to
 * 1.1 s, to 0.3 s by an instance that sends a command a second. A lease is never shorter for that; a lease whose holder has
 * crashed and a hold are over later, by as much as the two instances do not know: 3 s at most.
 *
 * An acquire is one command where no other instance has used the name since, else two or three; an extension and a release
 * are one. All instances use the same region: replicas of a global table do not see each other's conditions. The user needs
 * the rights to `GetItem`, `PutItem` and, for `list`, `Scan`, which reads the table.
 *
 * ```ts no-run
 * import { DynamoDB } from '@aws-sdk/client-dynamodb';
 * import { dynamodbLock, dynamodbLockTable } from 'tickless/dynamodb';
 *
 * const client = new DynamoDB({ region: 'eu-west-1' });
 * await client.createTable(dynamodbLockTable()); // once, by a migration
 * const lock = dynamodbLock({ client });
 * const answer = await lock.acquire({ name: 'rates' });
 * if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'done', holdFor: 60_000 });
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function dynamodbLock(given: DynamodbLockOptions): Lock {
  const options = ownOptions(given);
  const { records, backend } = openTable('lock', options, {
    table: LOCK_TABLE,
    maker: 'dynamodbLockTable',
  });
  return createLock(new RecordLock(records), options, backend);
}

/**
 * The table of a lock, for `createTable` of the client; or make it by other means, with string keys `pk` and `sk`. Switch on
 * the time to live of its attribute `expires_at`, or nothing is ever deleted.
 *
 * @param table its name. @default 'tickless_lock'
 */
export function dynamodbLockTable(table: string = LOCK_TABLE): DynamodbTable {
  return tableOf(table);
}

const LOCK_TABLE = 'tickless_lock';
