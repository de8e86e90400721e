import { oneByOne } from '../../cluster/one-by-one.ts';
import { commandTimeoutMs } from '../../cluster/time-limits.ts';
import type { Cells, Change, Seen, Swap } from '../../records/cells/cells.ts';
import type { MongoCollection } from './collection.ts';
import { beginnings, deletedBy, keptFrom, mainOf, NOW, swapped, TICK } from './pipelines.ts';

/** The most edits of one call: a server takes 100,000 in one `bulkWrite`. */
const MOST_EDITS = 500;

/** The most bytes of all texts of a document, which may have 16 MiB. */
const MOST_BYTES = 16_000_000;

/** Error code of a duplicate `_id`: two concurrent upserts of a new name. */
const DUPLICATE_KEY = 11_000;
const MOST_TRIES = 4;

/** Greatest `maxTimeMS` that the server accepts. */
const MAX_TIME_MS = 2 ** 31 - 1;

/** The document that is found where no other is, and so tells the clock. */
const CLOCK = 'clock';

/** In place of the server's clock. */
const UNTOLD = -Infinity;

interface SwapOf extends Change {
  readonly swap: Swap;
}

interface LongText {
  readonly id?: unknown;
  readonly text?: unknown;
}

/** A document as it is shown. */
interface Found {
  readonly _id: string;
  readonly record?: unknown;
  readonly main?: LongText | undefined;
  readonly long?: readonly LongText[];
  readonly askedAt: Date;
}

interface Answers {
  readonly now: number;
  readonly answers: readonly (Seen | Error)[];
}

/**
 * Cells in MongoDB: a document each, which one command swaps by a pipeline. Long texts are in it, so they come and go with it in
 * the same command; in return the server writes all of the document again when its text is swapped, though they do not travel.
 */
export class MongoCells implements Cells {
  readonly mostEdits: number;
  readonly mostBytes: number = MOST_BYTES;
  readonly sharesCommands: boolean = false;
  readonly timeoutMs: number;
  readonly #collection: MongoCollection;
  #hasIndex = false;

  constructor(collection: MongoCollection, timeoutMs: number) {
    this.mostEdits = typeof collection.bulkWrite === 'function' ? MOST_EDITS : 1;
    this.timeoutMs = timeoutMs;
    this.#collection = collection;
  }

  /** One command for all looks, one for a swap or a deletion, two for several swaps. */
  async swap(changes: readonly Change[]): ReturnType<Cells['swap']> {
    const looks = changes.filter(({ swap }) => swap === undefined);
    const swaps = changes.filter((change): change is SwapOf => change.swap !== undefined);
    const puts = swaps.filter(({ swap }) => swap.after !== undefined);
    const joined = puts.length > 1 && this.mostEdits > 1 ? puts : [];
    const parts = [
      { of: looks, run: () => this.#look(looks) },
      { of: joined, run: () => this.#swapAll(joined) },
      ...swaps
        .filter((one) => !joined.includes(one))
        .map((one) => ({ of: [one], run: () => this.#swapOne(one) })),
    ].filter(({ of }) => of.length > 0);
    const found = await oneByOne(parts, ({ run }) => run());
    const answers = new Map(
      parts.flatMap(({ of }, i) => {
        const part = found[i] as Answers | Error;
        return of.map((change, j) => [change, part instanceof Error ? part : part.answers[j]] as const);
      }),
    );
    if (swaps.some(({ swap }) => swap.keepForMs < Infinity)) this.#makeIndex();
    return {
      now: Math.max(...found.map((part) => (part instanceof Error ? UNTOLD : part.now))),
      answers: changes.map((change) => answers.get(change) as Seen | Error),
    };
  }

  async #look(looks: readonly Change[]): Promise<Answers> {
    const names = looks.map(({ name }) => name);
    const { now, documents } = await this.#find({ _id: { $in: names } }, [], shownOf(looks), names.length);
    const found = new Map(documents.map((one) => [one._id, one]));
    return { now, answers: names.map((name) => seenIn(found.get(name))) };
  }

  async #swapOne(change: SwapOf): Promise<Answers> {
    const { name, swap } = change;
    if (swap.after === undefined) {
      const { deletedCount } = await this.#collection.deleteOne(deletedBy(name, swap), this.#safely);
      return deletedCount > 0 ? { now: UNTOLD, answers: [{ isDone: true }] } : this.#compare([change]);
    }
    const found = await this.#update(name, swapped(swap), swap.before === undefined, shownOf([change]));
    return { now: found?.askedAt.getTime() ?? UNTOLD, answers: [afterSwap(change, seenIn(found))] };
  }

  /** A second command shows which ones are done. */
  async #swapAll(swaps: readonly SwapOf[]): Promise<Answers> {
    const operations = swaps.map(({ name, swap }) => ({
      updateOne: { filter: { _id: name }, update: swapped(swap), upsert: swap.before === undefined },
    }));
    const errors = await this.#bulkWrite(operations);
    const { now, answers } = await this.#compare(swaps);
    return { now, answers: answers.map((seen, i) => errors.get(i) ?? seen) };
  }

  /** A swap is done if its text is there; a deletion that has found none is not. */
  async #compare(swaps: readonly SwapOf[]): Promise<Answers> {
    const { now, answers } = await this.#look(swaps);
    return { now, answers: swaps.map((change, i) => afterSwap(change, answers[i] as Seen)) };
  }

  /** @returns the errors of those that failed, by index. */
  async #bulkWrite(operations: readonly object[]): Promise<ReadonlyMap<number, Error>> {
    try {
      await this.#collection.bulkWrite?.(operations as never[], { ...this.#safely, ordered: false });
      return new Map();
    } catch (error) {
      const failed = [(error as BulkWriteError).writeErrors ?? []].flat();
      if (failed.length === 0) throw error;
      const real = failed.filter((one) => !isDuplicateKey(one)); // the text of another upsert is there
      return new Map(
        real.map(({ index, code, errmsg }) => [index, Object.assign(new Error(errmsg), { code })]),
      );
    }
  }

  async #update(
    name: string,
    pipeline: object[],
    upsert: boolean,
    shows: object = {},
    tries = MOST_TRIES,
  ): Promise<Found | undefined> {
    const options = {
      ...this.#safely,
      returnDocument: 'after',
      includeResultMetadata: false, // as by default from 6 on
      upsert,
      projection: { record: 1, askedAt: 1, ...shows },
    };
    try {
      const found = await this.#collection.findOneAndUpdate({ _id: name }, pipeline, options);
      return (found ?? undefined) as Found | undefined;
    } catch (error) {
      if (tries === 1 || !isDuplicateKey(error)) throw error;
      return this.#update(name, pipeline, upsert, shows, tries - 1);
    }
  }

  async long(name: string, ids: readonly string[], most: number): Promise<readonly (string | undefined)[]> {
    const { documents } = await this.#find({ _id: name }, [], { long: beginnings(ids, most) });
    return ids.map((id) => textIn(documents[0]?.long?.find((one) => one.id === id)));
  }

  async list(prefix: string, limit: number): ReturnType<Cells['list']> {
    const first = [{ $sort: { _id: 1 } }, { $limit: limit + 1 }];
    const { now, documents } = await this.#find(keptFrom(prefix), first, {}, limit);
    return { now, texts: documents.map((one) => [one._id, seenIn(one).text ?? ''] as const) };
  }

  /**
   * Reads from the primary: a secondary may lag behind, and has its own clock.
   *
   * @param most how many documents there can be, so that one command returns them.
   */
  async #find(
    match: object,
    stages: readonly object[],
    shows: object,
    most: number = 1,
  ): Promise<{ readonly now: number; readonly documents: readonly Found[] }> {
    const pipeline = [
      { $match: { $or: [{ _id: CLOCK }, match] } },
      ...stages,
      { $project: { record: 1, askedAt: NOW, ...shows } },
    ];
    const options = {
      ...this.#inTime,
      readPreference: 'primary',
      ...(most > 100 && { batchSize: most + 2 }),
    };
    const found = (await this.#collection.aggregate(pipeline, options).toArray()) as Found[];
    const [first = await this.#update(CLOCK, TICK, true)] = found;
    return {
      now: first?.askedAt.getTime() ?? UNTOLD,
      documents: found.filter(({ _id }) => _id !== CLOCK),
    };
  }

  /** The server aborts a command when the caller stops waiting for it. */
  get #inTime(): object {
    return { maxTimeMS: Math.min(Math.ceil(commandTimeoutMs(this.timeoutMs)), MAX_TIME_MS) };
  }

  /** A write that the majority of a replica set has acknowledged survives a failover. */
  get #safely(): object {
    return { ...this.#inTime, writeConcern: { w: 'majority' } };
  }

  /** Creates the TTL index once, after the first document that expires. Errors are ignored: an index is optional. */
  #makeIndex(): void {
    if (this.#hasIndex) return;
    this.#hasIndex = true;
    this.#collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 }).catch(() => {});
  }
}

/** The fields of documents that are shown beside their texts. */
function shownOf(changes: readonly Change[]): object {
  const whole = changes.filter(({ isWhole }) => isWhole === true);
  return whole.length === 0 ? {} : { main: mainOf(whole) };
}

function afterSwap({ swap }: SwapOf, seen: Seen): Seen {
  const { text } = seen;
  return text !== undefined && text === swap.after ? { isDone: true } : seen;
}

/** A document without a text was edited by hand, and counts as an empty text. */
function seenIn(found: Found | undefined): Seen {
  if (found === undefined) return { isDone: false };
  const { record, main } = found;
  return { isDone: false, text: typeof record === 'string' ? record : '', main: textIn(main) };
}

function textIn(long: LongText | undefined): string | undefined {
  return typeof long?.text === 'string' ? long.text : undefined;
}

/** Used part of the error of a `bulkWrite` of which some operations failed. */
interface BulkWriteError {
  readonly writeErrors?: WriteError | readonly WriteError[];
}

/** No `Error`. */
interface WriteError {
  readonly index: number;
  readonly code: number;
  readonly errmsg?: string;
}

function isDuplicateKey(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === DUPLICATE_KEY;
}
