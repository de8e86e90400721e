/** The options of the backend of DynamoDB that concern the service. */
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
    input: DynamodbCondition & {
      readonly TableName: string;
      readonly Key: DynamodbItem;
      readonly ReturnValues: 'ALL_OLD';
    },
    options: DynamodbCall,
  ): PromiseLike<DynamodbAnswer>;
  query(input: DynamodbSearch, options: DynamodbCall): PromiseLike<DynamodbAnswer>;
  scan(input: DynamodbSearch, options: DynamodbCall): PromiseLike<DynamodbAnswer>;
}

/** A middleware of the AWS SDK, around each request. */
export type DynamodbMiddleware = <A, R>(next: (args: A) => Promise<R>) => (args: A) => Promise<R>;

/** The attributes of an item that is sent. */
export type DynamodbItem = Record<string, { S: string } | { N: string }>;

/** The attributes of an item that is read: texts, and numbers as texts. */
export type DynamodbFound = Record<
  string,
  { readonly S?: string | undefined; readonly N?: string | undefined }
>;

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
