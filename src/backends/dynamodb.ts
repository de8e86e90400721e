import type { Backend } from '../engine/backend.ts';
import { OptionChecks } from '../option-checks.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { SwappedRecords } from '../records/cells/swapped-records.ts';
import { type OpenRecords, RETENTION } from '../records/records-kind.ts';
import type { DurationLike } from '../time/duration.ts';
import { backendOn } from './backend.ts';
import { TextCells } from './cas/text-cells.ts';
import type { DynamodbOptions as DynamodbService } from './dynamodb/client-types.ts';
import { Dynamodb } from './dynamodb/dynamodb-client.ts';
import { type DynamodbTable, tableOf } from './dynamodb/dynamodb-table.ts';
import { DynamodbTexts } from './dynamodb/dynamodb-texts.ts';

export type { Backend } from '../engine/backend.ts';
export type * from './dynamodb/client-types.ts';
export type { DynamodbTable } from './dynamodb/dynamodb-table.ts';

/** The name of the table. */
const NAME = 'tickless';

/** The options of {@link dynamodbBackend}. */
export interface DynamodbBackendOptions extends BackendOptions, DynamodbService {
  /**
   * The name or the ARN of a table that exists: see {@link dynamodbTable}.
   * @default 'tickless'
   */
  readonly table?: string | undefined;
  /**
   * How long a record is kept at least, of a lock counted from the end of its lease or hold, of a store from the last write: from
   * then on the service may delete it, where its time to live is switched on. Choose more than the time between two loads: an
   * instance that starts later finds no snapshot. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A backend in DynamoDB: an item for each name, which is replaced on the condition that it is still as it was. Every
 * read is consistent. Names are at most 2000 bytes long.
 *
 * The clock is that of the service, by the header `Date` of its responses, which counts seconds: at first it is known to
 * 1.1 s, to 0.3 s by an instance that sends a command a second. A lease is never shorter than `leaseFor`. After a crash it ends later,
 * as a hold does, by as much as the two instances do not know: 3 s at most. Ages are too high by up to 3 s, and never too low.
 *
 * An acquire is one command where no other instance has used the name since, else two or three; an extension and a release
 * are one. A payload of up to 3 kB is in the item of its name; a longer one is in items of its own, of up to 390 kB each, which are
 * written first. So a read is one command, or two; a write is one command, or two and one for each 390 kB. With `keepVersions` over 1 all
 * payloads are in items of their own. The service charges by size: a snapshot of 1 MB costs 1,000 write units, and 250 read units for each
 * instance that adopts it. Reports of instances come with checks (`propagateWithin`), not with the reads and writes of rounds.
 *
 * All instances use the same region: replicas of a global table do not see each other's conditions. The user needs the rights to `GetItem`,
 * `BatchGetItem`, `PutItem`, `DeleteItem`, `Query` and, for lists of locks, `Scan`, which reads the table.
 *
 * ```ts no-run
 * import { DynamoDB } from '@aws-sdk/client-dynamodb';
 * import { RefreshingValue } from 'tickless';
 * import { dynamodbBackend, dynamodbTable } from 'tickless/dynamodb';
 *
 * const client = new DynamoDB({ region: 'eu-west-1' });
 * await client.createTable(dynamodbTable()); // once, by a migration
 * const backend = dynamodbBackend({ client });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function dynamodbBackend(given: DynamodbBackendOptions): Backend {
  return backendOn(openDynamodb, given);
}

/**
 * The table, for `createTable` of the client; or make it by other means, with string keys `pk` and `sk`. Switch on
 * the time to live of its attribute `expires_at`, or nothing is ever deleted.
 *
 * @param table its name. @default 'tickless'
 */
export function dynamodbTable(table: string = NAME): DynamodbTable {
  const checks = new OptionChecks('table');
  checkTable(checks, table);
  checks.done();
  return tableOf(table);
}

function checkTable(checks: OptionChecks, table: unknown): void {
  const isName = typeof table === 'string' && TABLE.test(table);
  checks.that(isName, 'table', 'must be 3 to 255 letters, digits, _, . and -, or an ARN', table);
}

/** The name of a table, or its ARN. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html */
const TABLE = /^[\w.-]{3,255}$|^arn:[\w:/.-]{1,1020}$/;

/** A key has 2048, and the name is not all of it. */
const LONGEST_NAME = 2000;

function openDynamodb(options: DynamodbBackendOptions): OpenRecords {
  const { table = NAME, retention = RETENTION } = options ?? {};
  const checks = new OptionChecks('backend');
  checkTable(checks, table);
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  return {
    backend: 'dynamodb',
    records: new SwappedRecords(new TextCells(new DynamodbTexts(new Dynamodb(options), table)), retentionMs),
    longestName: LONGEST_NAME,
    options: ['client', 'table', 'retention'],
    explain: (error) => withHelp(error, table),
  };
}

/** Adds to the error of a missing table what to do. */
function withHelp(error: unknown, table: string): unknown {
  if ((error as Error)?.name !== 'ResourceNotFoundException') return error;
  const help = `there is no table ${table} in this region: create it, as dynamodbTable() describes it`;
  return new Error(help, { cause: error });
}
