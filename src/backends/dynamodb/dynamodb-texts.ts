import type { ClockSpan } from '../../records/cells/known-clock.ts';
import type { FoundText, SwappableTexts, Swapped, TextKey } from '../cas/texts.ts';
import type {
  DynamodbAnswer,
  DynamodbCall,
  DynamodbClient,
  DynamodbCondition,
  DynamodbFound,
  DynamodbItem,
  DynamodbSearch,
} from './client-types.ts';
import type { Dynamodb } from './dynamodb-client.ts';
import { EXPIRES, PARTITION, SORT, TEXT } from './dynamodb-table.ts';

/** An item has at most 400 kB, with its key. */
const LONGEST_TEXT = 390_000;

/** The service reads 100 items in a command, and 16 MB. */
const MOST_READS = 100;

/** Texts at DynamoDB: an item each. Every read is consistent: it sees all that was written before it. */
export class DynamodbTexts implements SwappableTexts {
  readonly mostEdits: number = 1;
  readonly longestText: number = LONGEST_TEXT;
  readonly timeoutMs: number;
  readonly #dynamodb: Dynamodb;
  readonly #client: DynamodbClient;
  readonly #table: string;

  constructor(dynamodb: Dynamodb, table: string) {
    this.timeoutMs = dynamodb.timeoutMs;
    this.#dynamodb = dynamodb;
    this.#client = dynamodb.client;
    this.#table = table;
  }

  span(): ClockSpan {
    return this.#dynamodb.clock.span();
  }

  async read(keys: readonly TextKey[]): Promise<(string | undefined)[]> {
    const call = this.#dynamodb.call();
    if (keys.length === 1) return [await this.#readOne(keys[0] as TextKey, call)];
    const texts = new Map<string, string>();
    const distinct = [...new Map(keys.map((key) => [idOf(key), itemKey(key)])).values()];
    for (let i = 0; i < distinct.length; i += MOST_READS)
      await this.#readSome(distinct.slice(i, i + MOST_READS), call, texts);
    return keys.map((key) => texts.get(idOf(key)));
  }

  async #readOne(key: TextKey, call: DynamodbCall): Promise<string | undefined> {
    const input = { TableName: this.#table, Key: itemKey(key), ConsistentRead: true } as const;
    return textOf((await this.#client.getItem(input, call)).Item);
  }

  /** Those that the service leaves out, as the answer would be too long, are asked for again. */
  async #readSome(
    some: readonly DynamodbItem[],
    call: DynamodbCall,
    texts: Map<string, string>,
  ): Promise<void> {
    for (let keys = [...some]; keys.length > 0; ) {
      const RequestItems = { [this.#table]: { Keys: keys, ConsistentRead: true } } as const;
      const { Responses, UnprocessedKeys } = await this.#client.batchGetItem({ RequestItems }, call);
      for (const { key, text } of (Responses?.[this.#table] ?? []).map(foundIn)) texts.set(idOf(key), text);
      keys = (UnprocessedKeys?.[this.#table]?.Keys ?? []).map((one) => itemKey(foundIn(one).key));
    }
  }

  async swap(
    key: TextKey,
    before: string | undefined,
    after: string | undefined,
    keepForMs: number,
  ): Promise<Swapped> {
    const call = this.#dynamodb.call();
    const condition = before === undefined ? IS_NEW : isStill(before);
    try {
      if (after === undefined) await this.#take(key, call, condition);
      else await this.#put(key, after, keepForMs, call, condition);
      return { isDone: true };
    } catch (error) {
      if ((error as Error)?.name !== 'ConditionalCheckFailedException') throw error;
    }
    const present = await this.#readOne(key, call);
    const isRepeated = present !== undefined && present === after;
    return isRepeated ? { isDone: true } : { isDone: false, present };
  }

  put(key: TextKey, text: string, keepForMs: number): Promise<void> {
    return this.#put(key, text, keepForMs, this.#dynamodb.call());
  }

  async #put(
    key: TextKey,
    text: string,
    keepForMs: number,
    call: DynamodbCall,
    condition?: DynamodbCondition,
  ): Promise<void> {
    const Item: DynamodbItem = { ...itemKey(key), [TEXT]: { S: text } };
    if (keepForMs !== Infinity) {
      const seconds = Math.ceil((this.span().latest + keepForMs) / 1000);
      Item[EXPIRES] = { N: String(seconds) };
    }
    await this.#client.putItem({ TableName: this.#table, Item, ...condition }, call);
  }

  take(key: TextKey): Promise<string | undefined> {
    return this.#take(key, this.#dynamodb.call());
  }

  async #take(key: TextKey, call: DynamodbCall, condition?: DynamodbCondition): Promise<string | undefined> {
    const input = { TableName: this.#table, Key: itemKey(key), ReturnValues: 'ALL_OLD' } as const;
    return textOf((await this.#client.deleteItem({ ...input, ...condition }, call)).Attributes);
  }

  ofPartitions(prefix: string, sort: string): Promise<FoundText[]> {
    const values = { ':prefix': { S: prefix }, ':sort': { S: sort } };
    const FilterExpression = `begins_with(${PARTITION}, :prefix) AND ${SORT} = :sort`;
    return this.#all('scan', { FilterExpression, ...this.#search(values) }, Infinity);
  }

  ofPartition(partition: string, prefix: string, limit: number): Promise<FoundText[]> {
    const begins = prefix === '' ? '' : ` AND begins_with(${SORT}, :prefix)`;
    const values = { ':partition': { S: partition }, ...(prefix !== '' && { ':prefix': { S: prefix } }) };
    const KeyConditionExpression = `${PARTITION} = :partition${begins}`;
    return this.#all('query', { KeyConditionExpression, ...this.#search(values) }, limit);
  }

  #search(values: DynamodbItem): DynamodbSearch {
    return { TableName: this.#table, ConsistentRead: true, ExpressionAttributeValues: values };
  }

  /** An answer has at most 1 MB of items. The service deletes items days after their time: those do not count. */
  async #all(command: 'query' | 'scan', search: DynamodbSearch, limit: number): Promise<FoundText[]> {
    const call = this.#dynamodb.call();
    const found: FoundText[] = [];
    let from: DynamodbFound | undefined;
    do {
      const next: DynamodbSearch =
        from === undefined ? search : { ...search, ExclusiveStartKey: itemKey(foundIn(from).key) };
      const answer: DynamodbAnswer = await this.#client[command](next, call);
      const now = this.span().earliest;
      const isKept = (item: DynamodbFound): boolean => Number(item[EXPIRES]?.N ?? Infinity) * 1000 > now;
      found.push(...(answer.Items ?? []).filter(isKept).map(foundIn));
      from = answer.LastEvaluatedKey;
    } while (from !== undefined && found.length < limit);
    return found;
  }
}

const IS_NEW: DynamodbCondition = { ConditionExpression: `attribute_not_exists(${PARTITION})` };

function isStill(before: string): DynamodbCondition {
  if (before === NO_TEXT)
    return {
      ConditionExpression: `attribute_exists(${PARTITION}) AND NOT attribute_type(${TEXT}, :type)`,
      ExpressionAttributeValues: { ':type': { S: 'S' } },
    };
  return {
    ConditionExpression: `${TEXT} = :before`,
    ExpressionAttributeValues: { ':before': { S: before } },
  };
}

function itemKey({ partition, sort }: TextKey): DynamodbItem {
  return { [PARTITION]: { S: partition }, [SORT]: { S: sort } };
}

function foundIn(item: DynamodbFound): FoundText {
  const key = { partition: item[PARTITION]?.S ?? '', sort: item[SORT]?.S ?? '' };
  return { key, text: textOf(item) as string };
}

/** In place of the text of an item that was edited by hand: damage, which is replaced while the item still has none. */
const NO_TEXT = 'no text';

/** @returns `undefined` if there is no item. */
function textOf(item: DynamodbFound | undefined): string | undefined {
  return item && (item[TEXT]?.S ?? NO_TEXT);
}

function idOf({ partition, sort }: TextKey): string {
  return `${partition}\0${sort}`;
}
