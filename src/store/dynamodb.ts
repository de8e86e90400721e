import type { Store } from '../cluster/store-contract.ts';
import type { DynamodbOptions } from '../dynamodb/client-types.ts';
import { type DynamodbTable, tableOf } from '../dynamodb/dynamodb-table.ts';
import { openTable } from '../dynamodb/open-table.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import { RecordStore } from './record-store.ts';

export type * from '../dynamodb/client-types.ts';
export type { DynamodbTable } from '../dynamodb/dynamodb-table.ts';

/** The options of {@link dynamodbStore}. */
export interface DynamodbStoreOptions extends StoreOptions, DynamodbOptions {
  /** The name or the ARN of a table that exists: see {@link dynamodbStoreTable}. @default 'tickless_snapshot' */
  readonly table?: string | undefined;
  /**
   * How long a snapshot is kept at least after its last write: from then on the service may delete it, where its time to
   * live is switched on. Choose more than the time between two loads: an instance that starts later finds none. Over 0;
   * `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A store in DynamoDB. A payload of up to 3 kB is in the item of its name; a longer one is in items of its own, of up to
 * 390 kB each, which are written first. So a read is one command, or two; a write is one command, or two and one for each
 * 390 kB. With `keepVersions` over 1 all payloads are in items of their own. The service charges by size: a snapshot of
 * 1 MB costs 1,000 write units, and 250 read units for each instance that adopts it. Names are at most 2000 bytes long.
 *
 * Ages are by the clock of the service, as the header `Date` of its responses tells it, which counts seconds: too high by up
 * to 3 s, by some 0.5 s where instances send a command a second, and never too low. Reports of instances come with checks
 * (`propagateWithin`), not with the reads and writes of rounds. All instances use the same region. The user needs the rights
 * to `GetItem`, `BatchGetItem`, `PutItem`, `DeleteItem` and `Query`.
 *
 * ```ts no-run
 * import { DynamoDB } from '@aws-sdk/client-dynamodb';
 * import { dynamodbStore, dynamodbStoreTable } from 'tickless/dynamodb';
 *
 * const client = new DynamoDB({ region: 'eu-west-1' });
 * await client.createTable(dynamodbStoreTable()); // once, by a migration
 * const store = dynamodbStore({ client });
 * console.log(await store.write('rates', '{"USD":1.08}'));
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function dynamodbStore(given: DynamodbStoreOptions): Store {
  const options = ownOptions(given);
  const { records, backend } = openTable('store', options, {
    table: STORE_TABLE,
    maker: 'dynamodbStoreTable',
  });
  return createStore(new RecordStore(records, options.keepVersions), options, backend);
}

/**
 * The table of a store, for `createTable` of the client; or make it by other means, with string keys `pk` and `sk`. Switch on
 * the time to live of its attribute `expires_at`, or nothing is ever deleted.
 *
 * @param table its name. @default 'tickless_snapshot'
 */
export function dynamodbStoreTable(table: string = STORE_TABLE): DynamodbTable {
  return tableOf(table);
}

const STORE_TABLE = 'tickless_snapshot';
