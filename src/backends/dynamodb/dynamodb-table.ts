/** A table, as `createTable` of the client takes it. */
export interface DynamodbTable {
  readonly TableName: string;
  readonly AttributeDefinitions: { AttributeName: string; AttributeType: 'S' }[];
  readonly KeySchema: { AttributeName: string; KeyType: 'HASH' | 'RANGE' }[];
  readonly BillingMode: 'PAY_PER_REQUEST';
}

// The attributes of an item. None is a reserved word: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html

export const PARTITION = 'pk';
export const SORT = 'sk';
export const TEXT = 'body';
/** From then on the service may delete the item, in epoch seconds. */
export const EXPIRES = 'expires_at';

/** @param table the name. */
export function tableOf(table: string): DynamodbTable {
  return {
    TableName: table,
    AttributeDefinitions: [PARTITION, SORT].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: PARTITION, KeyType: 'HASH' },
      { AttributeName: SORT, KeyType: 'RANGE' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
  };
}
