import type { Store } from '../cluster/store-contract.ts';
import { OptionChecks } from '../option-checks.ts';
import type { Lock, LockOptions } from '../records/lock/create-lock.ts';
import { type OpenRecords, RETENTION } from '../records/records-kind.ts';
import type { StoreOptions } from '../records/store/create-store.ts';
import type { DurationLike } from '../time/duration.ts';
import { type Backend, backendOn, lockOn, storeOn } from './backend.ts';
import { SwappedRecords } from './cas/swapped-records.ts';
import type { DynamodbOptions as DynamodbService } from './dynamodb/client-types.ts';
import { Dynamodb } from './dynamodb/dynamodb-client.ts';
import { type DynamodbTable, tableOf } from './dynamodb/dynamodb-table.ts';
import { DynamodbTexts } from './dynamodb/dynamodb-texts.ts';

export type { Backend } from './backend.ts';
export type * from './dynamodb/client-types.ts';
export type { DynamodbTable } from './dynamodb/dynamodb-table.ts';

/** The names of the tables, by what is in them. */
const TABLES = { lock: 'tickless_lock', store: 'tickless_snapshot' } as const;

/** The options of all that is in DynamoDB. */
interface InTable extends DynamodbService {
  /**
   * The name or the ARN of a table that exists: see {@link dynamodbLockTable} and {@link dynamodbStoreTable}.
   * @default 'tickless_lock' of a lock, 'tickless_snapshot' of a store
   */
  readonly table?: string | undefined;
  /**
   * How long a record is kept at least, of a lock counted from the end of its lease or hold, of a store from the last write: from
   * then on the service may delete it, where its time to live is switched on. Choose more than the time between two loads: an
   * instance that starts later finds no snapshot. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/** The options of {@link dynamodbLock}. */
export interface DynamodbLockOptions extends LockOptions, InTable {}

/** The options of {@link dynamodbStore}. */
export interface DynamodbStoreOptions extends StoreOptions, InTable {}

/** The options of {@link dynamodbBackend}: those of the lock and of the store. */
export interface DynamodbBackendOptions extends DynamodbLockOptions, DynamodbStoreOptions {}

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
  return lockOn(openDynamodb, given);
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
  return storeOn(openDynamodb, given);
}

/**
 * A lock and a store in DynamoDB, each in a table of its own unless `table` names one for both, for the option `backend`: {@link dynamodbLock} and {@link dynamodbStore} with the same options.
 *
 * ```ts no-run
 * import { DynamoDB } from '@aws-sdk/client-dynamodb';
 * import { RefreshingValue } from 'tickless';
 * import { dynamodbBackend } from 'tickless/dynamodb';
 *
 * const backend = dynamodbBackend({ client: new DynamoDB() });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function dynamodbBackend(given: DynamodbBackendOptions): Backend {
  return backendOn(openDynamodb, given);
}

/**
 * The table of a lock, for `createTable` of the client; or make it by other means, with string keys `pk` and `sk`. Switch on
 * the time to live of its attribute `expires_at`, or nothing is ever deleted.
 *
 * @param table its name. @default 'tickless_lock'
 */
export function dynamodbLockTable(table: string = TABLES.lock): DynamodbTable {
  return tableOf(checkedTable(table));
}

/**
 * The table of a store, as {@link dynamodbLockTable}.
 *
 * @param table its name. @default 'tickless_snapshot'
 */
export function dynamodbStoreTable(table: string = TABLES.store): DynamodbTable {
  return tableOf(checkedTable(table));
}

function checkTable(checks: OptionChecks, table: unknown): void {
  const isName = typeof table === 'string' && TABLE.test(table);
  checks.that(isName, 'table', 'must be 3 to 255 letters, digits, _, . and -, or an ARN', table);
}

function checkedTable(table: string): string {
  const checks = new OptionChecks('table');
  checkTable(checks, table);
  checks.done();
  return table;
}

/** The name of a table, or its ARN. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html */
const TABLE = /^[\w.-]{3,255}$|^arn:[\w:/.-]{1,1020}$/;

/** A key has 2048, and the name is not all of it. */
const LONGEST_NAME = 2000;

function openDynamodb(about: 'lock' | 'store', options: InTable): OpenRecords {
  const { table = TABLES[about], retention = RETENTION } = options ?? {};
  const checks = new OptionChecks(about);
  checkTable(checks, table);
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  const maker = about === 'lock' ? 'dynamodbLockTable' : 'dynamodbStoreTable';
  return {
    backend: 'dynamodb',
    records: new SwappedRecords(new DynamodbTexts(new Dynamodb(about, options), table), retentionMs),
    longestName: LONGEST_NAME,
    options: ['client', 'table', 'retention'],
    explain: (error) => withHelp(error, table, maker),
  };
}

/** Adds to the error of a missing table what to do. */
function withHelp(error: unknown, table: string, maker: string): unknown {
  if ((error as Error)?.name !== 'ResourceNotFoundException') return error;
  const help = `there is no table ${table} in this region: create it, as ${maker}() describes it`;
  return new Error(help, { cause: error });
}
