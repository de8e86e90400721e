import type { AcquireRequest, LeaseExtension, LeaseId, LockState } from '../cluster/lock-contract.ts';
import { after, isPlausible, type MongoCollection, NOW, next, text } from '../mongodb/collection.ts';
import { type MongoChange, type MongoDocument, MongoDocuments } from '../mongodb/documents.ts';
import { ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { createLock, type Lock, type LockOptions } from './create-lock.ts';
import {
  CLOCK_BACK_MS,
  type Ending,
  type LeaseEnd,
  LONGEST_AHEAD_MS,
  type LockBackend,
  type LockRow,
  REPLACED,
} from './lock-backend.ts';
import { rowOf } from './record.ts';
import { releasedLeases } from './released-leases.ts';

export type { MongoCollection } from '../mongodb/collection.ts';

/** The options of {@link mongodbLock}. */
export interface MongodbLockOptions extends LockOptions {
  /**
   * A collection of the official driver (`mongodb` 6 or newer), used by this lock only: `_id` is the name. The server
   * creates it on first use. You keep ownership: the lock closes neither the collection nor its client.
   */
  readonly collection: MongoCollection;
  /**
   * How long the record of an unused name is kept, counted from the end of its lease or hold. Over 0; `Infinity`: for
   * ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A lock in MongoDB (4.4 or newer): one document per name. Each step is one `findOneAndUpdate` that runs at the primary
 * and uses its clock, to the millisecond. In a sharded cluster it uses the clock of the `mongos` that receives the
 * command: synchronize their clocks. The majority of a replica set acknowledges each step, so that a failover loses no
 * lease. Names may have any length.
 *
 * The server deletes old records through a TTL index, which the lock creates after its first acquire. Without the right
 * to create an index, create it yourself, or keep all records:
 * `collection.createIndex({ expireAt: 1 }, { expireAfterSeconds: 0 })`. The user needs the rights to find, insert and
 * update.
 *
 * The driver searches for a server for 30 seconds, and then still sends commands that have timed out: give the client a
 * `serverSelectionTimeoutMS` equal to `timeout`.
 *
 * ```ts no-run
 * import { MongoClient } from 'mongodb';
 * import { mongodbLock } from 'tickless/lock/mongodb';
 *
 * const client = new MongoClient('mongodb://localhost', { serverSelectionTimeoutMS: 3000 });
 * const lock = mongodbLock({ collection: client.db('app').collection('locks') });
 * const answer = await lock.acquire({ name: 'rates' });
 * if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'done', holdFor: 60_000 });
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function mongodbLock(given: MongodbLockOptions): Lock {
  const options = ownOptions(given);
  return createLock(new MongodbLock(options), options, {
    longestName: undefined,
    options: ['collection', 'retention'],
  });
}

const STATES: readonly string[] = ['running', 'done', 'failed', 'abandoned', 'released'];

/** Longer error texts are cut. In UTF-16 code units. */
const MAX_ERROR_LENGTH = 16_000;

// The rest translates `record.ts` to aggregation expressions. A damaged record counts as absent, except for its token where
// that is plausible. The types are checked because MongoDB orders values of different types.

const BACK = after(CLOCK_BACK_MS);

const isOfType = (field: string, type: string): object => ({ $eq: [{ $type: field }, type] });
const isInstant = (field: string): object => ({
  $and: [isOfType(field, 'date'), { $lte: [field, after(LONGEST_AHEAD_MS)] }],
});

/** Rules for the fields of a sound record. */
const RULES: Readonly<Record<string, object>> = {
  token: isPlausible('$token'),
  state: { $in: ['$state', STATES] },
  leaseUntil: isInstant('$leaseUntil'),
  notBefore: isInstant('$notBefore'),
  acquiredAt: isInstant('$acquiredAt'),
  finishedAt: { $or: [{ $in: [{ $type: '$finishedAt' }, ['null', 'missing']] }, isInstant('$finishedAt')] },
  owner: isOfType('$owner', 'string'),
  requestId: isOfType('$requestId', 'string'),
};

const IS_SOUND = { $and: Object.values(RULES) };

/** The text for `lastError`: of a new document there is none. */
const DAMAGE = {
  $switch: {
    branches: [
      { case: { $and: Object.keys(RULES).map((field) => isOfType(`$${field}`, 'missing')) }, then: null },
      ...Object.entries(RULES).map(([field, rule]) => ({ case: { $not: [rule] }, then: REPLACED + field })),
    ],
    default: null,
  },
};

const IS_LIVE = {
  $and: [
    IS_SOUND,
    { $eq: ['$state', 'running'] },
    { $gt: ['$leaseUntil', NOW] },
    { $lte: ['$acquiredAt', BACK] },
  ],
};

const IS_HELD_BACK = {
  $and: [
    IS_SOUND,
    { $eq: [{ $type: '$finishedAt' }, 'date'] },
    { $gt: ['$notBefore', NOW] },
    { $lte: ['$finishedAt', BACK] },
  ],
};

/** Changes only the time of the request: the reply needs the server's clock. */
const UNCHANGED = { $mergeObjects: ['$$ROOT', { askedAt: NOW }] };

class MongodbLock implements LockBackend {
  readonly acquireMany: LockBackend['acquireMany'];
  readonly releaseMany: LockBackend['releaseMany'];
  readonly extendMany: LockBackend['extendMany'];
  readonly #documents: MongoDocuments;

  constructor(options: MongodbLockOptions) {
    this.#documents = new MongoDocuments('lock', options);
    if (!this.#documents.changesMany) return;
    this.acquireMany = (requests) => this.#acquireEach(requests);
    this.releaseMany = (ends) => this.#releaseEach(ends);
    this.extendMany = (extensions) => this.#extendEach(extensions);
  }

  async acquire(request: AcquireRequest): Promise<LockRow> {
    return rowFrom(await this.#documents.put(request.name, this.#acquisition(request)));
  }

  /** The documents are read in a second command: each shows the lease of its request, or what prevents it. */
  async #acquireEach(requests: readonly AcquireRequest[]): Promise<(LockRow | Error)[]> {
    const changes = requests.map((request) => ({
      filter: { _id: request.name },
      pipeline: this.#acquisition(request),
    }));
    const errors = await this.#documents.putEach(changes);
    const names = requests.map(({ name }) => name);
    const found = await this.#documents.find(
      [{ $match: { _id: { $in: names } } }, { $set: { askedAt: NOW } }],
      names.length,
    );
    const rows = new Map(found.map((document) => [document._id, rowFrom(document)]));
    const deleted = (): Error => new Error('the document of the lock was deleted right after the write');
    return names.map((name) => errors.get(name) ?? rows.get(name) ?? deleted());
  }

  #acquisition({ owner, requestId, host, leaseFor, force }: AcquireRequest): object[] {
    const lease = {
      _id: '$_id',
      token: next('$token'),
      owner: text(owner),
      requestId: text(requestId),
      host: text(String(host)),
      state: 'running',
      tookOver: { $eq: ['$state', 'running'] },
      leaseUntil: after(leaseFor),
      notBefore: NOW,
      acquiredAt: NOW,
      finishedAt: null,
      lastError: DAMAGE,
      askedAt: NOW,
      expireAt: this.#documents.expiry(leaseFor),
    };
    const isTaken = force ? IS_LIVE : { $or: [IS_LIVE, IS_HELD_BACK] };
    return [{ $replaceWith: { $cond: [isTaken, UNCHANGED, lease] } }];
  }

  async extend(lease: LeaseId, leaseFor: number): Promise<boolean> {
    if (!isLeaseId(lease)) return false;
    const { filter, pipeline } = this.#extension({ lease, leaseFor });
    return this.#documents.change(filter, pipeline);
  }

  /** Those that could not be extended are over, and never live again. */
  async #extendEach(extensions: readonly LeaseExtension[]): Promise<(boolean | Error)[]> {
    const sound = extensions.filter(({ lease }) => isLeaseId(lease));
    const { matched, errors } = await this.#documents.changeEach(sound.map((one) => this.#extension(one)));
    const states = matched < sound.length ? await this.#statesOf(sound, IS_LIVE) : undefined;
    return extensions.map(({ lease }) => {
      const isExtended = isLeaseId(lease) && (states === undefined || isIn(states, lease, 'running'));
      return errors.get(lease.name) ?? isExtended;
    });
  }

  #extension({ lease, leaseFor }: LeaseExtension): MongoChange {
    const filter = { ...filterOf(lease), $expr: IS_LIVE };
    return {
      filter,
      pipeline: [{ $set: { leaseUntil: after(leaseFor), expireAt: this.#documents.expiry(leaseFor) } }],
    };
  }

  async release(lease: LeaseId, ending: Ending): Promise<boolean> {
    if (!isLeaseId(lease)) return false;
    const { filter, pipeline } = this.#end({ lease, ending });
    return this.#documents.change(filter, pipeline);
  }

  async #releaseEach(ends: readonly LeaseEnd[]): Promise<(boolean | Error)[]> {
    const sound = ends.filter(({ lease }) => isLeaseId(lease));
    const { matched, errors } = await this.#documents.changeEach(sound.map((end) => this.#end(end)));
    const states = matched < sound.length ? await this.#statesOf(sound, IS_SOUND) : undefined;
    const ended = sound.filter(
      ({ lease, ending }) => states === undefined || isIn(states, lease, ending.state),
    );
    const answers = releasedLeases(sound, matched, new Set(ended.map(({ lease }) => lease.name)));
    return ends.map(({ lease: { name } }) => errors.get(name) ?? answers.get(name) ?? false);
  }

  /** The states of the records of that kind, by name. */
  async #statesOf(leases: readonly { readonly lease: LeaseId }[], kind: object): Promise<States> {
    const found = await this.#documents.find(
      [
        { $match: { _id: { $in: leases.map(({ lease }) => lease.name) }, $expr: kind } },
        { $project: { token: 1, requestId: 1, state: 1 } },
      ],
      leases.length,
    );
    return new Map(found.map(({ _id, token, requestId, state }) => [_id, [Number(token), requestId, state]]));
  }

  #end({ lease, ending: { state, holdFor, error, keepFor } }: LeaseEnd): MongoChange {
    const ended = {
      state,
      leaseUntil: NOW,
      notBefore: after(holdFor),
      finishedAt: NOW,
      lastError: error === undefined ? null : text(String(error).slice(0, MAX_ERROR_LENGTH)),
      expireAt: this.#documents.expiry(holdFor, keepFor),
    };
    const isRepeated = { $eq: ['$state', state] }; // after a lost reply
    const filter = { ...filterOf(lease), $expr: { $and: [IS_SOUND, { $or: [isRepeated, IS_LIVE] }] } };
    return {
      filter,
      pipeline: [{ $replaceWith: { $cond: [isRepeated, '$$ROOT', { $mergeObjects: ['$$ROOT', ended] }] } }],
    };
  }

  async find(name: string): Promise<LockRow | undefined> {
    const [found] = await this.#documents.find([
      { $match: { _id: name, $expr: IS_SOUND } },
      { $set: { askedAt: NOW } },
    ]);
    return found && rowFrom(found);
  }

  async list(prefix: string, limit: number): Promise<LockRow[]> {
    const found = await this.#documents.find([
      { $match: { _id: { $regex: `^${escaped(prefix)}` }, $expr: IS_SOUND } },
      { $sort: { _id: 1 } },
      { $limit: limit },
      { $set: { askedAt: NOW } },
    ]);
    return found.map(rowFrom);
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    const released = { state: 'released', leaseUntil: NOW, notBefore: NOW, finishedAt: NOW };
    return this.#documents.change({ _id: name, token, $expr: IS_SOUND }, [
      { $set: { ...released, expireAt: this.#documents.expiry(0) } },
    ]);
  }
}

/** Token, request and state of each name. */
type States = ReadonlyMap<string, readonly unknown[]>;

function isIn(states: States, { name, token, requestId }: LeaseId, state: string): boolean {
  return String(states.get(name)) === String([token, requestId, state]);
}

/** Callers pass leases in: a filter must not interpret other types as query operators. */
function isLeaseId({ token, requestId }: LeaseId): boolean {
  return typeof token === 'number' && typeof requestId === 'string';
}

function filterOf({ name, token, requestId }: LeaseId): MongoChange['filter'] & Record<string, unknown> {
  return { _id: name, token, requestId };
}

/** Escapes a text for a regular expression. */
function escaped(prefix: string): string {
  return prefix.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The row of a readable record. The driver returns dates as `Date`, and numbers in one of several types. */
function rowFrom(found: MongoDocument): LockRow {
  const { host, lastError } = found;
  const askedAt = instantOf(found.askedAt);
  const finishedAt = instantOf(found.finishedAt);
  const record = {
    token: Number(found.token),
    owner: String(found.owner),
    requestId: String(found.requestId),
    host: typeof host === 'string' ? host : '',
    state: found.state as LockState,
    tookOver: found.tookOver === true,
    leaseUntil: instantOf(found.leaseUntil),
    notBefore: instantOf(found.notBefore),
    acquiredAt: instantOf(found.acquiredAt),
    finishedAt: Number.isNaN(finishedAt) ? null : finishedAt,
    lastError: typeof lastError === 'string' ? lastError : null,
  };
  return rowOf(found._id, record, { at: askedAt, wall: askedAt });
}

function instantOf(value: unknown): number {
  return value instanceof Date ? value.getTime() : Number.NaN;
}
