import { DateClock } from '../cas/date-clock.ts';
import { commandTimeoutMs } from '../cluster/time-limits.ts';
import { OptionChecks } from '../option-checks.ts';
import { systemClock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';

/** The options of the lock and the store of DynamoDB that concern the service. */
export interface DynamodbOptions {
  /**
   * A `DynamoDB` of `@aws-sdk/client-dynamodb` 3: the client that has a method for each command. Beside a `DynamoDBClient` of
   * yours make one with the same configuration. You keep ownership. Each lock and each store adds a middleware to it, which
   * reads the header `Date` of all its responses.
   */
  readonly client: DynamodbClient;
}

/** The used part of a `DynamoDB` of `@aws-sdk/client-dynamodb`. */
export interface DynamodbClient {
  readonly middlewareStack: {
    add(
      middleware: DynamodbMiddleware,
      options: { readonly step: 'deserialize'; readonly priority: 'low' },
    ): void;
  };
  getItem(input: DynamodbRead, options: DynamodbCall): PromiseLike<DynamodbAnswer>;
  batchGetItem(
    input: { readonly RequestItems: Record<string, { Keys: DynamodbItem[]; ConsistentRead: true }> },
    options: DynamodbCall,
  ): PromiseLike<{
    readonly Responses?: Record<string, DynamodbFound[]> | undefined;
    readonly UnprocessedKeys?: Record<string, { readonly Keys: DynamodbFound[] | undefined }> | undefined;
  }>;
  putItem(
    input: DynamodbCondition & { readonly TableName: string; readonly Item: DynamodbItem },
    options: DynamodbCall,
  ): PromiseLike<unknown>;
  deleteItem(
    input: { readonly TableName: string; readonly Key: DynamodbItem; readonly ReturnValues: 'ALL_OLD' },
    options: DynamodbCall,
  ): PromiseLike<DynamodbAnswer>;
  query(input: DynamodbSearch, options: DynamodbCall): PromiseLike<DynamodbAnswer>;
  scan(input: DynamodbSearch, options: DynamodbCall): PromiseLike<DynamodbAnswer>;
}

/** A middleware of the AWS SDK, around each request. */
export type DynamodbMiddleware = <A, R>(next: (args: A) => Promise<R>) => (args: A) => Promise<R>;

/** The attributes of an item that is sent. */
export type DynamodbItem = Record<string, { S: string } | { N: string }>;

/** The attributes of an item that is read. */
export type DynamodbFound = Record<string, { readonly S?: string | undefined }>;

/** The options of a call. */
export interface DynamodbCall {
  readonly abortSignal: AbortSignal;
}

/** The input of a command that reads one item. */
export interface DynamodbRead {
  readonly TableName: string;
  readonly Key: DynamodbItem;
  readonly ConsistentRead: true;
}

/** A condition of a command, and what stands for its names and values. */
export interface DynamodbCondition {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeValues?: DynamodbItem;
}

/** The input of a command that looks for items. */
export interface DynamodbSearch {
  readonly TableName: string;
  readonly ConsistentRead: true;
  readonly KeyConditionExpression?: string;
  readonly FilterExpression?: string;
  readonly ExpressionAttributeValues: DynamodbItem;
  readonly ExclusiveStartKey?: DynamodbItem;
}

/** The used part of an answer, of whichever command. */
export interface DynamodbAnswer {
  readonly Item?: DynamodbFound | undefined;
  readonly Attributes?: DynamodbFound | undefined;
  readonly Items?: DynamodbFound[] | undefined;
  readonly LastEvaluatedKey?: DynamodbFound | undefined;
}

/** The service answers from many machines, and a machine may keep its header for a moment. */
const STALE_MS = 100;

/** The longest time of a signal. */
const LONGEST_SIGNAL_MS = 2 ** 31 - 1;

/** A client, the time that a command of it may take, and the clock of the service. */
export class Dynamodb {
  readonly client: DynamodbClient;
  readonly timeoutMs: number;
  readonly clock: DateClock = new DateClock(systemClock.monotonic, STALE_MS);

  /**
   * @param about the subject of errors: 'lock' or 'store'.
   * @throws {OptionError} when one of these options breaks a rule.
   */
  constructor(
    about: 'lock' | 'store',
    options: DynamodbOptions & { readonly timeout?: DurationLike | undefined },
  ) {
    const { client, timeout } = options ?? {};
    const checks = new OptionChecks(about);
    checks.methods('client', client, METHODS);
    checks.done();
    this.client = client;
    this.timeoutMs = commandTimeoutMs(about, timeout);
    client.middlewareStack.add(this.#watch, { step: 'deserialize', priority: 'low' });
  }

  /** The options of a step: its commands end at the timeout, those that the client repeats too. */
  call(): DynamodbCall {
    return { abortSignal: AbortSignal.timeout(Math.min(Math.ceil(this.timeoutMs), LONGEST_SIGNAL_MS)) };
  }

  /** Next to the wire, so it sees each try, and answers that are errors. */
  readonly #watch: DynamodbMiddleware = (next) => async (args) => {
    const sentAt = this.clock.now();
    const result = await next(args);
    this.clock.learn(dateOf(result), sentAt);
    return result;
  };
}

/**
 * Adds to the error of a missing table what to do.
 *
 * @param maker the function that describes the table.
 */
export function explainTable(table: string, maker: string): (error: unknown) => unknown {
  return (error) =>
    (error as Error)?.name === 'ResourceNotFoundException'
      ? new Error(`there is no table ${table} in this region: create it, as ${maker}() describes it`, {
          cause: error,
        })
      : error;
}

const METHODS = ['getItem', 'batchGetItem', 'putItem', 'deleteItem', 'query', 'scan'];

function dateOf(result: unknown): string | undefined {
  const { response } = result as { readonly response?: { readonly headers?: Record<string, string> } };
  const headers = response?.headers ?? {};
  return headers.date ?? headers.Date;
}
