import { bytesOf } from '../cluster/history.ts';
import { oneByOne } from '../cluster/one-by-one.ts';
import { implausibleSnapshot } from '../cluster/plausible.ts';
import {
  BEGINNING_LENGTH,
  type InstanceReport,
  MOST_REPORTS,
  type SnapshotRead,
  type SnapshotWrite,
  type Store,
  type StoredReport,
  type StoredSnapshot,
  type StoredVersion,
  type WriteAnswer,
} from '../cluster/store-contract.ts';
import { isPlausible, type MongoCollection, NOW, next, text } from '../mongodb/collection.ts';
import { type MongoChange, type MongoDocument, MongoDocuments } from '../mongodb/documents.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createStore, type StoreOptions } from './create-store.ts';
import type { StoreBackend } from './store-backend.ts';

export type { MongoCollection } from '../mongodb/collection.ts';

/** The options of {@link mongodbStore}. */
export interface MongodbStoreOptions extends StoreOptions {
  /**
   * A collection of the official driver (`mongodb` 6 or newer), used by this store only, not by a lock as well: `_id` is
   * the name. The server creates it on first use. You keep ownership: the store closes neither the collection nor its
   * client.
   */
  readonly collection: MongoCollection;
  /**
   * How long a snapshot is kept after its last write. Choose more than the time between two loads: an instance that
   * starts without a snapshot has to load. Over 0; `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A store in MongoDB (4.4 or newer): one document per name. Each step is one command that runs at the primary and uses
 * its clock, to the millisecond; in a sharded cluster the clock of the `mongos` that receives the command. The majority
 * of a replica set acknowledges each write. A document takes at most 16 MB, so a payload some hundred bytes less; a
 * write of a longer one rejects with `StoreUnavailableError`. Names may have any length. With `keepVersions` the older
 * versions are in the same document, as many of them as fit into 16 MB with the present one. The reports of instances are
 * documents of the same collection, whose `_id` begins with U+0000; a check with a report takes two commands, and none go with reads
 * and writes.
 *
 * The server deletes old snapshots through a TTL index, which the store creates after its first write. Without the
 * right to create an index, create it yourself, or keep all snapshots:
 * `collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 })`. The user needs the rights to find, insert,
 * update and remove.
 *
 * The driver searches for a server for 30 seconds, and then still sends commands that have timed out: give the client a
 * `serverSelectionTimeoutMS` equal to `timeout`.
 *
 * ```ts no-run
 * import { MongoClient } from 'mongodb';
 * import { mongodbStore } from 'tickless/store/mongodb';
 *
 * const client = new MongoClient('mongodb://localhost', { serverSelectionTimeoutMS: 3000 });
 * const store = mongodbStore({ collection: client.db('app').collection('snapshots') });
 * await store.write('rates', '{"EUR":1}');
 * const snapshot = await store.read('rates');
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mongodbStore(given: MongodbStoreOptions): Store {
  const options = ownOptions(given);
  return createStore(new MongodbStore(options), options, {
    longestName: undefined,
    options: ['collection', 'retention'],
  });
}

class MongodbStore implements StoreBackend {
  readonly readMany: StoreBackend['readMany'];
  readonly writeMany: StoreBackend['writeMany'];
  readonly #documents: MongoDocuments;
  readonly #keepVersions: number;

  constructor(options: MongodbStoreOptions) {
    this.#keepVersions = options?.keepVersions ?? 1;
    this.#documents = new MongoDocuments('store', options);
    if (!this.#documents.changesMany) return;
    this.readMany = (reads) => this.#readEach(reads);
    this.writeMany = (writes) => this.#writeEach(writes);
  }

  async read(name: string, newerThan?: number, version?: number): Promise<StoredSnapshot | undefined> {
    if (version !== undefined && version <= (newerThan ?? -1)) return undefined;
    const pipeline = version === undefined ? snapshots([{ name, newerThan }]) : oneVersion(name, version);
    const [found] = await this.#documents.find(pipeline);
    return found && snapshotFrom(found);
  }

  async history(name: string): Promise<StoredVersion[]> {
    const versions = await this.#documents.find(allVersions(name), this.#keepVersions);
    return versions.map((found) => {
      const { payload: beginning, ...snapshot } = snapshotFrom(found);
      return { ...snapshot, beginning, bytes: Number(found.bytes) };
    });
  }

  async #readEach(reads: readonly SnapshotRead[]): Promise<(StoredSnapshot | undefined)[]> {
    const documents = await this.#documents.find(snapshots(reads), reads.length);
    const found = new Map(documents.map((document) => [document._id, snapshotFrom(document)]));
    return reads.map(({ name }) => found.get(name));
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
  ): Promise<WriteAnswer> {
    const { pipeline } = this.#replacement({ name, payload, token, rejected, keepFor });
    return answerFrom(await this.#documents.put(name, pipeline, { version: 1 }), token);
  }

  /** The versions are read in a second command. Without a token that could be the version of the next write. */
  async #writeEach(writes: readonly SnapshotWrite[]): Promise<(WriteAnswer | Error)[]> {
    const withToken = writes.filter(({ token }) => token !== undefined);
    const others = writes.filter(({ token }) => token === undefined);
    const answers: Map<string, WriteAnswer | Error> = new Map();
    const single = await oneByOne(others, ({ name, payload, rejected, keepFor }) =>
      this.write(name, payload, undefined, rejected, keepFor),
    );
    for (const [i, { name }] of others.entries()) answers.set(name, single[i] as WriteAnswer | Error);
    if (withToken.length > 0) {
      const errors = await this.#documents.putEach(withToken.map((write) => this.#replacement(write)));
      const names = withToken.map(({ name }) => name);
      const found = await this.#documents.find(
        [{ $match: { _id: { $in: names } } }, { $project: { version: 1 } }],
        names.length,
      );
      const versions = new Map(found.map((document) => [document._id, document]));
      for (const { name, token } of withToken) {
        const document = versions.get(name);
        const deleted = (): Error => new Error('the document of the store was deleted right after the write');
        answers.set(name, errors.get(name) ?? (document ? answerFrom(document, token) : deleted()));
      }
    }
    return writes.map(({ name }) => answers.get(name) as WriteAnswer | Error);
  }

  #replacement({ name, payload, token, rejected, keepFor }: SnapshotWrite): MongoChange {
    const version = token ?? next('$version');
    const keeps = this.#keepVersions > 1;
    const room = keepFor === undefined ? this.#keepVersions - 1 : 0;
    const isRepeated = { $and: [{ $eq: ['$version', version] }, { $eq: ['$payload', text(payload)] }] };
    const written = {
      _id: '$_id',
      version,
      writtenAt: token === undefined ? NOW : { $cond: [isRepeated, '$writtenAt', NOW] },
      payload: text(payload),
      expireAt: this.#documents.expiry(0, keepFor),
      ...(keeps && room > 0 ? { older: olderVersions(version, room, bytesOf(payload)) } : {}),
      ...(keeps && keepFor !== undefined ? { isBrief: true } : {}),
    };
    const isRejected = { $eq: ['$version', rejected ?? -1] };
    const isNewer = { $and: [isPlausible('$version'), { $gt: ['$version', token] }, { $not: [isRejected] }] };
    const result = token === undefined ? written : { $cond: [isNewer, '$$ROOT', written] };
    return { filter: { _id: name }, pipeline: [{ $replaceWith: result }] };
  }

  async versions(names: readonly string[], report?: InstanceReport): Promise<number[]> {
    if (report !== undefined) await this.#report(report);
    if (names.length === 0) return [];
    const pipeline = [
      { $match: { _id: { $in: names } } },
      { $project: { version: { $cond: [isPlausible('$version'), '$version', 0] } } },
    ];
    const found = await this.#documents.find(pipeline, names.length);
    const versions = new Map(found.map(({ _id, version }) => [_id, Number(version)]));
    return names.map((name) => versions.get(name) ?? 0);
  }

  async #report({ instance, text: report, keepFor }: InstanceReport): Promise<void> {
    const written = {
      ...{ _id: '$_id', report: text(report), writtenAt: NOW },
      expireAt: this.#documents.expiry(0, keepFor),
    };
    await this.#documents.put(REPORT + instance, [{ $replaceWith: written }], { _id: 1 });
  }

  async reports(beginning: string): Promise<StoredReport[]> {
    const from = REPORT + beginning;
    const till = from.slice(0, -1) + String.fromCharCode(from.charCodeAt(from.length - 1) + 1);
    const isPresent = { _id: { $gte: from, $lt: till }, $expr: { $gt: ['$expireAt', NOW] } };
    const age = { $subtract: [NOW, '$writtenAt'] };
    const pipeline = [{ $match: isPresent }, { $limit: MOST_REPORTS }, { $project: { report: 1, age } }];
    const found = await this.#documents.find(pipeline, MOST_REPORTS);
    return found.map(({ _id, report, age }) => ({
      instance: _id.slice(REPORT.length),
      text: String(report),
      age: Number(age),
    }));
  }

  async delete(name: string): Promise<boolean> {
    return this.#documents.delete(name);
  }
}

/** The beginning of the `_id` of a report: no name has this character. */
const REPORT = '\0';

/** Finds those of the snapshots that are newer than the version of their read. */
function snapshots(reads: readonly SnapshotRead[]): object[] {
  const names: Map<number, string[]> = new Map();
  for (const { name, newerThan = -1 } of reads) {
    const same = names.get(newerThan);
    if (same === undefined) names.set(newerThan, [name]);
    else same.push(name);
  }
  const wanted = Array.from(names, ([newerThan, some]) => ({
    _id: some.length === 1 ? some[0] : { $in: some },
    $expr: { $or: [{ $gt: ['$version', newerThan] }, { $not: [isPlausible('$version')] }] },
  }));
  return [{ $match: wanted.length === 1 ? wanted[0] : { $or: wanted } }, { $project: read(1) }];
}

/** The most bytes of all payloads of a document, which may have 16 MiB. */
const MOST_BYTES = 16_000_000;

/** Bytes of a version beside its payload, at most. */
const BYTES_BESIDE = 100;

/** An expression: the present version and those before it, newest first, that are kept beside the one to be written. */
function olderVersions(version: number | object, room: number, bytes: number): object {
  const present = { version: '$version', writtenAt: '$writtenAt', payload: '$payload' };
  const isText = { $eq: [{ $type: '$payload' }, 'string'] };
  const isKept = { $and: [isPlausible('$version'), isText, { $ne: ['$isBrief', true] }] };
  const all = { $concatArrays: [{ $cond: [isKept, [present], []] }, { $ifNull: ['$older', []] }] };
  const before = { $filter: { input: all, as: 'one', cond: { $lt: ['$$one.version', version] } } };
  const size = { $add: ['$$value.bytes', BYTES_BESIDE, { $strLenBytes: '$$this.payload' }] };
  const fitting = {
    $reduce: {
      input: { $slice: [before, room] },
      initialValue: { bytes, kept: [] },
      in: {
        bytes: size,
        kept: {
          $cond: [
            { $lte: [size, MOST_BYTES] },
            { $concatArrays: ['$$value.kept', ['$$this']] },
            '$$value.kept',
          ],
        },
      },
    },
  };
  return { $let: { vars: { fitting }, in: '$$fitting.kept' } };
}

/** A stage for each version of a name, newest first. */
function eachVersion(name: string): object[] {
  const present = { version: '$version', writtenAt: '$writtenAt', payload: '$payload' };
  const all = { $concatArrays: [[present], { $ifNull: ['$older', []] }] };
  return [{ $match: { _id: name } }, { $project: { all } }, { $unwind: '$all' }, { $replaceWith: '$all' }];
}

function oneVersion(name: string, version: number): object[] {
  return [...eachVersion(name), { $match: { version } }, { $limit: 1 }, { $project: read('$payload') }];
}

function allVersions(name: string): object[] {
  const ofText = (expression: object, other: unknown): object => ({
    $cond: [{ $eq: [{ $type: '$payload' }, 'string'] }, expression, other],
  });
  const beginning = ofText(
    { $arrayElemAt: [{ $split: [{ $substrCP: ['$payload', 0, BEGINNING_LENGTH] }, '\n'] }, 0] },
    null,
  );
  return [
    ...eachVersion(name),
    { $project: { ...read(beginning), bytes: ofText({ $strLenBytes: '$payload' }, 0) } },
  ];
}

function read(payload: unknown): object {
  const isDate = { $eq: [{ $type: '$writtenAt' }, 'date'] };
  const age = { $cond: [isDate, { $subtract: [NOW, '$writtenAt'] }, null] };
  return { version: 1, payload, isPlausible: isPlausible('$version'), age };
}

function snapshotFrom(found: MongoDocument): StoredSnapshot {
  const { payload, age } = found;
  if (found.isPlausible !== true) return implausibleSnapshot(found.version);
  return {
    version: Number(found.version),
    age: age === null ? Number.NaN : Number(age),
    payload: payload as string,
  };
}

function answerFrom(found: MongoDocument, token: number | undefined): WriteAnswer {
  const version = Number(found.version);
  return { kind: token === undefined || version === token ? 'written' : 'refused', version };
}
