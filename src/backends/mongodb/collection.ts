/**
 * The used part of a `Collection` of the official driver (the package `mongodb`), 6 or newer. You keep ownership: neither
 * it nor its client is closed.
 */
export interface MongoCollection {
  findOneAndUpdate(filter: object, update: object[], options: object): Promise<unknown>;
  aggregate(pipeline: object[], options: object): { toArray(): Promise<unknown[]> };
  /** Steps for several names share a command where the collection has it. It is called with update operations. */
  bulkWrite?(operations: never[], options: object): Promise<unknown>;
  deleteOne(filter: object, options: object): Promise<{ readonly deletedCount: number }>;
  createIndex(keys: { readonly expireAt: 1 }, options: object): Promise<unknown>;
}
