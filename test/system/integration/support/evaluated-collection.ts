import { setImmediate as turn } from 'node:timers/promises';
import { aggregate } from 'mingo';
import type { MongoCollection } from '../../../../src/backends/mongodb/collection.ts';

type Document = Record<string, unknown>;

interface BulkOperation {
  readonly updateOne?: { readonly filter: object; readonly update: object[]; readonly upsert: boolean };
  readonly deleteOne?: { readonly filter: object };
}

/** What an evaluated collection is told beside the commands. */
export interface EvaluatedOptions {
  /** Of the primary: epoch milliseconds. @default the machine's */
  readonly now?: () => number;
  /** Answers each command with this error, as the driver does when it has found no server. */
  readonly failsWith?: Error;
  /** Refuses these documents, as the server does those of more than 16 MB. @default none */
  readonly refuses?: (document: Document) => boolean;
}

/**
 * What the adapters use of a collection of MongoDB, on documents in memory, where the library mingo evaluates filters and
 * pipelines. It is not MongoDB: it shows that the pipelines say what they should, by the meaning that their operators
 * have in the manual, as mingo has it. What a real server does with them, its types of numbers, its limits and its
 * errors are not seen here.
 *
 * What a server does around the pipelines is done here by hand, by the manual of `findAndModify`:
 *
 * - A command sees one instant as `$$NOW`.
 * - A change of a document is one step. An upsert is two: the look, and the insert. Another upsert of that name may come
 *   in between, and then it is an error with the code 11000.
 * - `_id` can't be changed.
 * - With an index for it, a document is deleted when its `expireAt` has passed: here at once, there within a minute or so.
 */
export class EvaluatedCollection implements MongoCollection {
  /** By their `_id`. Tests may edit them. */
  readonly documents: Map<unknown, Document> = new Map();
  /** Each with its arguments, in the order they came. */
  readonly commands: { readonly name: string; readonly args: readonly unknown[] }[] = [];
  readonly #options: EvaluatedOptions;
  #deletesAt: string | undefined;

  constructor(options: EvaluatedOptions = {}) {
    this.#options = options;
  }

  async findOneAndUpdate(filter: object, update: object[], options: object): Promise<Document | null> {
    const now = await this.#begin('findOneAndUpdate', filter, update, options);
    const { upsert = false, projection = {}, returnDocument = 'before' } = options as Document;
    const { found, changed } = await this.#update(filter, update, upsert === true, now);
    const shown = returnDocument === 'after' ? changed : found;
    if (shown === undefined) return null;
    const stages = Object.keys(projection as object).length === 0 ? [] : [{ $project: projection as object }];
    return evaluate([shown], stages, now)[0] ?? null;
  }

  /** Unordered: an error of one operation is told after the others were done. */
  async bulkWrite(operations: object[], options: object): Promise<{ readonly matchedCount: number }> {
    const now = await this.#begin('bulkWrite', operations, options);
    const writeErrors: object[] = []; // as the driver's: no instances of `Error`
    let matchedCount = 0;
    for (const [index, { updateOne, deleteOne }] of (operations as BulkOperation[]).entries()) {
      if (deleteOne !== undefined) this.#delete(deleteOne.filter, now);
      if (updateOne === undefined) continue;
      const { filter, update, upsert } = updateOne;
      try {
        const { found } = await this.#update(filter, update, upsert === true, now);
        if (found !== undefined) matchedCount += 1;
      } catch (error) {
        const { code, message } = error as { readonly code: unknown; readonly message: string };
        writeErrors.push({ index, code, errmsg: message });
      }
    }
    if (writeErrors.length === 0) return { matchedCount };
    throw Object.assign(new Error('bulk write failed'), { writeErrors, result: { matchedCount } });
  }

  async #update(
    filter: object,
    update: object[],
    upsert: boolean,
    now: Date,
  ): Promise<{ readonly found?: Document | undefined; readonly changed?: Document | undefined }> {
    const found = this.#matches(filter, now)[0];
    if (found === undefined && !upsert) return {};
    if (found === undefined) await turn();
    const { _id } = found ?? (filter as Document);
    if (found === undefined && this.documents.has(_id)) {
      throw Object.assign(new Error(`E11000 duplicate key error: ${_id}`), { code: 11_000 });
    }
    const [changed] = evaluate([found ?? { _id }], update, now);
    if (changed === undefined || changed._id !== _id)
      throw Object.assign(new Error('_id is immutable'), { code: 66 });
    if (this.#options.refuses?.(changed)) throw Object.assign(new Error('too large'), { code: 10_334 });
    this.documents.set(_id, changed);
    return { found, changed };
  }

  aggregate(pipeline: object[], options: object): { toArray(): Promise<Document[]> } {
    return {
      toArray: async () => {
        const now = await this.#begin('aggregate', pipeline, options);
        return evaluate([...this.documents.values()], pipeline, now);
      },
    };
  }

  async deleteOne(filter: object, options: object): Promise<{ readonly deletedCount: number }> {
    const now = await this.#begin('deleteOne', filter, options);
    return { deletedCount: this.#delete(filter, now) ? 1 : 0 };
  }

  #delete(filter: object, now: Date): boolean {
    const [found] = this.#matches(filter, now);
    return this.documents.delete(found?._id);
  }

  async createIndex(keys: { readonly expireAt: 1 }, options: object): Promise<string> {
    await this.#begin('createIndex', keys, options);
    if ((options as Document).expireAfterSeconds === 0) [this.#deletesAt] = Object.keys(keys);
    return 'index';
  }

  /** @returns when it is, for the whole of the command. */
  async #begin(name: string, ...args: unknown[]): Promise<Date> {
    await turn();
    const { now = Date.now, failsWith } = this.#options;
    if (failsWith !== undefined) throw failsWith;
    this.commands.push({ name, args });
    const instant = new Date(now());
    for (const [id, document] of this.documents) {
      const end = this.#deletesAt === undefined ? undefined : document[this.#deletesAt];
      if (end instanceof Date && end <= instant) this.documents.delete(id);
    }
    return instant;
  }

  #matches(filter: object, now: Date): Document[] {
    const { _id } = filter as Document;
    const named = typeof _id === 'string' ? [this.documents.get(_id) ?? []].flat() : this.documents.values();
    return evaluate([...named], [{ $match: filter }], now);
  }
}

/** Copies what comes out: what is done to it later must not show here. */
function evaluate(documents: Document[], pipeline: object[], now: Date): Document[] {
  return structuredClone(aggregate(documents, at(now, pipeline) as Document[]));
}

/** mingo would look at the clock anew for each `$$NOW`. In a filter, or in a text of the caller's, it is no variable. */
function at(now: Date, expression: unknown): unknown {
  if (expression === '$$NOW') return now;
  if (Array.isArray(expression)) return expression.map((part) => at(now, part));
  if (Object.prototype.toString.call(expression) !== '[object Object]') return expression;
  const entries = Object.entries(expression as object).map(([key, part]) => {
    if (key === '$literal') return [key, part];
    return [key, key === '$match' ? filterAt(now, part) : at(now, part)];
  });
  return Object.fromEntries(entries);
}

function filterAt(now: Date, filter: Document): Document {
  const { $expr, $or, ...others } = filter;
  if ($expr !== undefined) return { ...others, $expr: at(now, $expr) };
  return Array.isArray($or) ? { ...others, $or: $or.map((one) => filterAt(now, one)) } : filter;
}
