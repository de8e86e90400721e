import { SwappedRecords } from '../cas/swapped-records.ts';
import { OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import type { DynamodbOptions } from './client-types.ts';
import { Dynamodb } from './dynamodb-client.ts';
import { DynamodbTexts } from './dynamodb-texts.ts';

/** A table of a lock or of a store. */
export interface OpenTable {
  readonly records: SwappedRecords;
  /** The limits, the options and the errors of the backend. */
  readonly backend: {
    readonly longestName: number;
    readonly options: readonly string[];
    readonly explain: (error: unknown) => unknown;
  };
}

/**
 * @param about the subject of errors.
 * @param maker the function that describes the table, for errors.
 * @throws {OptionError} when one of these options breaks a rule.
 */
export function openTable(
  about: 'lock' | 'store',
  options: DynamodbOptions & {
    readonly table?: string | undefined;
    readonly retention?: DurationLike | undefined;
    readonly timeout?: DurationLike | undefined;
  },
  { table: byDefault, maker }: { readonly table: string; readonly maker: string },
): OpenTable {
  const { table = byDefault, retention = { days: 7 } } = options ?? {};
  const checks = new OptionChecks(about);
  const isName = typeof table === 'string' && TABLE.test(table);
  checks.that(isName, 'table', 'must be 3 to 255 letters, digits, _, . and -, or an ARN', table);
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  return {
    records: new SwappedRecords(new DynamodbTexts(new Dynamodb(about, options), table), retentionMs),
    backend: {
      longestName: LONGEST_NAME,
      options: ['client', 'table', 'retention'],
      explain: explainTable(table, maker),
    },
  };
}

/** The name of a table, or its ARN. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html */
const TABLE = /^[\w.-]{3,255}$|^arn:[\w:/.-]{1,1020}$/;

/** A key has 2048, and the name is not all of it. */
const LONGEST_NAME = 2000;

/**
 * Adds to the error of a missing table what to do.
 */
function explainTable(table: string, maker: string): (error: unknown) => unknown {
  return (error) =>
    (error as Error)?.name === 'ResourceNotFoundException'
      ? new Error(`there is no table ${table} in this region: create it, as ${maker}() describes it`, {
          cause: error,
        })
      : error;
}
