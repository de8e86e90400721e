import type { LockState } from '../../../src/cluster/lock-contract.ts';
import { edited, type Instant, rowOf, type StoredRecord } from '../../../src/records/edited.ts';
import type { Lock } from '../../../src/records/lock/create-lock.ts';
import { LOCK } from '../../../src/records/names.ts';
import type { Amend, Answer, Claim, Edit, Records, Row } from '../../../src/records/records.ts';
import type { BackendSubject } from '../../support/lock-conformance/index.ts';
import { lockOn } from '../../support/parts.ts';

type MaybeRecord = StoredRecord | undefined;

/** A correct backend in memory; a fault replaces one of its methods. */
class Backend implements Records {
  readonly mostEdits: number = 500;
  readonly sharesCommands: boolean = true;
  readonly records: Map<string, StoredRecord> = new Map();

  now(): Instant {
    return { at: performance.now(), wall: Date.now() };
  }

  keyOf(name: string): string {
    return name;
  }

  find(name: string): MaybeRecord {
    return this.records.get(this.keyOf(name));
  }

  put(name: string, record: MaybeRecord): void {
    if (record !== undefined) this.records.set(this.keyOf(name), record);
  }

  edited(...asked: [MaybeRecord, Edit, Instant]): ReturnType<typeof edited<string>> {
    return edited(...asked);
  }

  rowOf(record: StoredRecord, now: Instant): Row {
    return rowOf(record, now, String);
  }

  /** The wall clock that an answer tells. */
  told(wall: number, _: Row | undefined): number {
    return wall;
  }

  isListed(name: string, prefix: string, _: StoredRecord, __: Instant): boolean {
    return name.startsWith(prefix);
  }

  async answer(edit: Edit): Promise<Answer> {
    const now = this.now();
    const { next, isDone } = this.edited(this.find(edit.name), edit, now);
    this.put(edit.name, next);
    return { isDone, row: next && this.rowOf(next, now) };
  }

  async answers(edits: readonly Edit[]): Promise<Answer[]> {
    return Promise.all(edits.map((edit) => this.answer(edit)));
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const { wall } = this.now();
    const answers = await this.answers(edits);
    return { now: this.told(wall, answers[0]?.row), answers };
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const now = this.now();
    const listed = [...this.records].filter(([name, record]) =>
      this.isListed(name.slice(LOCK.length), prefix.slice(LOCK.length), record, now),
    );
    const rows = listed.sort().slice(0, limit);
    return { now: now.wall, rows: rows.map(([name, record]) => [name, this.rowOf(record, now)]) };
  }

  async editions(): Promise<[]> {
    return [];
  }
}

/** Refuses or never answers. */
class SilentBackend extends Backend {
  override apply([edit]: readonly Edit[]): Promise<never> {
    return edit?.op === 'read' ? new Promise(() => {}) : Promise.reject(new Error('ECONNREFUSED'));
  }

  override list(): Promise<never> {
    return new Promise(() => {});
  }
}

/** A mistake in an implementation of a lock. */
export interface LockFault {
  readonly fault: string;
  /** Creates a backend with the fault. */
  readonly backend: () => Backend;
  /** Changes the lock instead of its backend. */
  readonly change?: (lock: Lock) => Partial<Lock>;
  /** Changes the lock of an unreachable backend. */
  readonly unreachable?: Partial<Lock>;
}

type Parts = { [K in keyof Backend]?: (this: Backend, ...args: never[]) => unknown };

function fault(name: string, parts: Parts): LockFault {
  return { fault: name, backend: () => Object.assign(new Backend(), parts) };
}

function outside(name: string, change: (lock: Lock) => Partial<Lock>): LockFault {
  return { fault: name, backend: () => new Backend(), change };
}

function gone(name: string, unreachable: Partial<Lock>): LockFault {
  return { fault: name, backend: () => new Backend(), unreachable };
}

/** The edits of the steps of a lock. */
interface Steps {
  readonly acquire: Claim;
  readonly extend: Amend;
  readonly release: Amend;
  readonly forceRelease: Amend;
  readonly inspect: Edit;
}

function stepOf(edit: Edit): keyof Steps {
  if (edit.op === 'claim') return 'acquire';
  if (edit.op !== 'amend') return 'inspect';
  if (edit.id === undefined) return 'forceRelease';
  return edit.phase === undefined ? 'extend' : 'release';
}

/** Replaces what a step makes of a record. `undefined`: nothing, and it is not done. */
function on<S extends keyof Steps>(
  step: S,
): (name: string, next: (record: MaybeRecord, edit: Steps[S], now: Instant) => MaybeRecord) => LockFault {
  return (name, next) =>
    fault(name, {
      edited(record: MaybeRecord, edit: Edit, now: Instant) {
        if (stepOf(edit) !== step) return edited(record, edit, now);
        const made = next(record, edit as Steps[S], now);
        return { next: made ?? record, isDone: made !== undefined };
      },
    });
}

const onAcquire = on('acquire');
const onExtend = on('extend');
const onRelease = on('release');
const onForceRelease = on('forceRelease');

/** The record after an acquire; the same object if the acquire changed nothing. */
function claimed(record: MaybeRecord, edit: Claim, now: Instant): StoredRecord {
  return edited(record, edit, now).next as StoredRecord;
}

/** The record after an amendment. `undefined`: it is not done. */
function amended(record: MaybeRecord, edit: Amend, now: Instant): MaybeRecord {
  const { next, isDone } = edited(record, edit, now);
  return isDone ? next : undefined;
}

/** Changes the record of each new lease. */
function acquiring(
  name: string,
  change: (fresh: StoredRecord, ...asked: [MaybeRecord, Claim, Instant]) => Partial<StoredRecord>,
): LockFault {
  return onAcquire(name, (...asked) => {
    const next = claimed(...asked);
    return next === asked[0] ? next : { ...next, ...change(next, ...asked) };
  });
}

/** Changes the record of a name that is not free, when it is acquired. */
function refusing(
  name: string,
  change: (record: StoredRecord, edit: Claim, now: Instant) => Partial<StoredRecord>,
): LockFault {
  return onAcquire(name, (record, edit, now) => {
    const next = claimed(record, edit, now);
    return next === record ? { ...next, ...change(next, edit, now) } : next;
  });
}

/** Changes the amendment that a step asks for. */
function asking(
  step: typeof onExtend,
  name: string,
  change: (edit: Amend, record: StoredRecord) => Partial<Amend>,
): LockFault {
  return step(
    name,
    (record, edit, now) => record && amended(record, { ...edit, ...change(edit, record) }, now),
  );
}

/** Changes the record that an amendment leaves. */
function leaving(
  step: typeof onExtend,
  name: string,
  change: (next: StoredRecord, record: StoredRecord, edit: Amend, now: Instant) => MaybeRecord,
): LockFault {
  return step(name, (record, edit, now) => {
    const next = amended(record, edit, now);
    return next && record && change(next, record, edit, now);
  });
}

function shown(name: string, change: (row: Row) => Partial<Row>): LockFault {
  return fault(name, {
    rowOf(record: StoredRecord, now: Instant) {
      const row = rowOf(record, now, String);
      return { ...row, ...change(row) };
    },
  });
}

/** Replaces the answers to several edits of one step. Those of other steps may be in the same call. */
function several<S extends keyof Steps>(
  step: S,
  name: string,
  answers: (backend: Backend, edits: readonly Steps[S][]) => Promise<Answer[]>,
): LockFault {
  return fault(name, {
    async answers(this: Backend, edits: readonly Edit[]) {
      const isOfStep = (edit: Edit): boolean => stepOf(edit) === step;
      const own: readonly Edit[] = edits.filter(isOfStep);
      if (own.length < 2) return Backend.prototype.answers.call(this, edits);
      const others = edits.filter((edit) => !isOfStep(edit));
      const theirs = await Backend.prototype.answers.call(this, others);
      const replaced = [...(await answers(this, own as readonly Steps[S][]))];
      return edits.flatMap((edit) => (isOfStep(edit) ? replaced : theirs).shift() ?? []);
    },
  });
}

/** Changes several edits of one step. */
function askingSeveral<S extends keyof Steps>(
  step: S,
  name: string,
  change: (edits: readonly Steps[S][]) => readonly Steps[S][],
): LockFault {
  return several(step, name, (backend, edits) => Backend.prototype.answers.call(backend, change(edits)));
}

/** The lock with some of its methods changed. */
function partly(whole: Lock, changed: Partial<Lock> = {}): Lock {
  return new Proxy(whole, {
    get: (_, key) => {
      const found = Reflect.get(key in changed ? changed : whole, key);
      return typeof found === 'function' ? found.bind(whole) : found;
    },
  });
}

const KIND = { longestName: 200, options: [] };
const HUGE = 2 ** 53 - 2;

/** The subject of the suite: one backend with the fault. */
export function faultyLock({ backend, change, unreachable }: LockFault): BackendSubject {
  const shared = backend();
  const lock = lockOn(shared, {}, KIND);
  const silent = lockOn(new SilentBackend(), { timeout: 20 }, KIND);
  const damage = { token: { token: HUGE }, state: { phase: 'abc' as never } };
  return {
    lock: () => partly(lock, change?.(lock)),
    forget: (name) => void shared.records.delete(LOCK + name),
    damage(name, field) {
      const record = shared.records.get(LOCK + name) as StoredRecord;
      const changed = field === 'token' || field === 'state' ? damage[field] : { until: HUGE };
      shared.records.set(LOCK + name, { ...record, ...changed });
    },
    unreachable: () => partly(silent, unreachable),
  };
}

export const CORRECT: LockFault = fault('none', {});

const HOUR = 3_600_000;
const ENDS: readonly LockState[] = ['done', 'failed', 'abandoned', 'released'];

/** A text for people, with some of it changed. */
function changed(text: string | undefined, change: object): string {
  return JSON.stringify({ ...JSON.parse(text || '{}'), ...change });
}

const holderOf = ({ text }: { text: string }): { owner: string; host: string } => JSON.parse(text);
const endOf = ({ note }: { note?: string | undefined }): { state?: LockState; error?: string } =>
  JSON.parse(note || '{}');

const isRunning = ({ phase }: { phase: string }): boolean => phase !== 'held';
const isOwn = (record: MaybeRecord, { token, id }: Amend): boolean =>
  record?.token === token && record.id === id;
const isLive = (record: StoredRecord, now: Instant): boolean =>
  isRunning(record) && rowOf(record, now, String).left > 0;

/** Its lease is over. */
function expired(record: MaybeRecord): MaybeRecord {
  return record && isRunning(record) ? { ...record, until: 0 } : record;
}

/** Forgets a name after a while. */
function forget(backend: Backend, name: string, delayMs: number, isStill = () => true): void {
  setTimeout(() => isStill() && backend.records.delete(backend.keyOf(name)), delayMs);
}

export const LOCK_FAULTS: readonly LockFault[] = [
  // the lease
  acquiring('a lease that lasts for hours', (_, __, ___, { at }) => ({ until: at + 10 * HOUR })),
  acquiring('a lease of half the time', ({ until }, _, { forMs }) => ({ until: until - forMs / 2 })),
  onAcquire('no exclusion: every acquire succeeds', (record, edit, now) =>
    claimed(expired(record), edit, now),
  ),
  refusing('an acquire extends the lease of the holder', (record, { forMs }, { at }) =>
    isRunning(record) ? { until: at + forMs } : {},
  ),
  refusing('an acquire extends the hold', (record) =>
    isRunning(record) ? {} : { until: record.until + 1000 },
  ),
  refusing('the same owner acquires again', (record, edit) =>
    holderOf(record).owner === holderOf(edit).owner ? { id: edit.id } : {},
  ),
  refusing('the same host acquires again', (record, edit) =>
    holderOf(record).host === holderOf(edit).host ? { id: edit.id, text: edit.text } : {},
  ),
  refusing('a repeated request counts as a new one', () => ({ id: 'x' })),
  refusing('a repeated request gets another token', (record, { id }) =>
    record.id === id ? { token: record.token + 1 } : {},
  ),
  onAcquire('a repeated request revives its expired lease', (record, edit, now) =>
    record?.id === edit.id && isRunning(record)
      ? { ...record, until: now.at + edit.forMs }
      : claimed(record, edit, now),
  ),
  onAcquire('a repeated request starts its done round again', (record, edit, now) =>
    claimed(record?.id === edit.id && !isRunning(record) ? undefined : record, edit, now),
  ),
  onAcquire('force ignores a live lease', (record, edit, now) =>
    claimed(edit.force ? expired(record) : record, edit, now),
  ),
  onAcquire('force ignores nothing', (record, edit, now) => claimed(record, { ...edit, force: false }, now)),
  onAcquire('force ignores only done', (record, edit, now) => {
    const force = edit.force && record !== undefined && endOf(record).state === 'done';
    return claimed(record, { ...edit, force }, now);
  }),
  onAcquire('an expired lease is never taken over', (record, edit, now) =>
    record && isRunning(record) ? record : claimed(record, edit, now),
  ),
  fault('the record disappears with the lease', {
    edited(record: MaybeRecord, edit: Edit, now: Instant) {
      const isGone = edit.op === 'read' && record !== undefined && !isLive(record, now);
      return isGone ? { next: undefined, isDone: false } : edited(record, edit, now);
    },
  }),
  onAcquire('contention is an error', (record, edit, now) => {
    const next = claimed(record, edit, now);
    if (next.id !== edit.id) throw new Error('held');
    return next;
  }),
  fault('two steps instead of one: the record is read, then written', {
    async answer(this: Backend, edit: Edit) {
      if (edit.op !== 'claim') return Backend.prototype.answer.call(this, edit);
      const now = this.now();
      const next = claimed(this.find(edit.name), edit, now);
      await new Promise((resolve) => setTimeout(resolve, 2));
      this.put(edit.name, next);
      return { isDone: true, row: this.rowOf(next, now) };
    },
  }),

  // tokens
  acquiring('the token counts from one', (_, record) => ({ token: (record?.token ?? 0) + 1 })),
  acquiring('the token is the clock in milliseconds', (_, __, ___, { wall }) => ({
    token: Math.floor(wall),
  })),
  acquiring('the token is a fraction', ({ token }) => ({ token: token + 0.5 })),
  acquiring('the token is not safe', ({ token }) => ({ token: token * 1e6 })),
  acquiring('a takeover keeps the token', ({ phase }, record) =>
    phase === 'seized' && record ? { token: record.token } : {},
  ),
  acquiring('a forced acquire keeps the token', (_, record, { force }) =>
    force && record ? { token: record.token } : {},
  ),
  ...ENDS.map((state) =>
    acquiring(`the token goes back after ${state}`, (_, record) =>
      record && endOf(record).state === state ? { token: record.token - 1 } : {},
    ),
  ),

  // takeovers
  acquiring('tookOver is true after the first acquire', (_, record) => (record ? { phase: 'seized' } : {})),
  acquiring('tookOver is never true', () => ({ phase: 'leased' })),
  ...ENDS.map((state) =>
    acquiring(`tookOver is true after ${state}`, (_, record) =>
      record && endOf(record).state === state ? { phase: 'seized' } : {},
    ),
  ),
  acquiring('the error of the last round stays', (_, record) => ({ note: record?.note ?? '' })),

  // extend
  onExtend('extend by name only', (record, { forMs }, { at }) => record && { ...record, until: at + forMs }),
  asking(onExtend, 'extend ignores the token', (_, { token }) => ({ token })),
  asking(onExtend, 'extend ignores the request', (_, { id }) => ({ id })),
  onExtend('extend of an expired lease', (record, edit, { at }) =>
    record && isOwn(record, edit) && isRunning(record) ? { ...record, until: at + edit.forMs } : undefined,
  ),
  onExtend('extend of a released lease', (record, edit, now) =>
    record && isOwn(record, edit) && (isLive(record, now) || !isRunning(record))
      ? { ...record, phase: 'leased', until: now.at + edit.forMs }
      : undefined,
  ),
  leaving(onExtend, 'extend adds to the lease', (next, { until }, { forMs }) => ({
    ...next,
    until: until + forMs,
  })),
  leaving(onExtend, 'extend never shortens', (next, { until }) => ({
    ...next,
    until: Math.max(next.until, until),
  })),
  leaving(onExtend, 'extend does nothing', (_, record) => record),
  leaving(onExtend, 'extend resets acquiredAt', (next, _, __, { at }) => ({ ...next, at })),

  // release
  onRelease(
    'release by name only',
    (record, { note = '', forMs }, { at }) =>
      record && { ...record, phase: 'held', note, until: at + forMs, changedAt: at },
  ),
  asking(onRelease, 'release ignores the request', (_, { id }) => ({ id })),
  asking(onRelease, 'release ignores the token', (_, { token }) => ({ token })),
  onRelease('release of an expired lease', (record, edit, now) => {
    const isRevived = record && isOwn(record, edit) && isRunning(record);
    return amended(isRevived ? { ...record, until: now.at + 1 } : record, edit, now);
  }),
  asking(onRelease, 'release forgets the confirmation', ({ note }) => ({
    note: changed(note, { confirms: undefined }),
  })),
  asking(onRelease, 'release forgets the hold', () => ({ forMs: 0 })),
  asking(onRelease, 'a failure is held for an hour', (edit) =>
    endOf(edit).state === 'failed' ? { forMs: HOUR } : {},
  ),
  asking(onRelease, 'a failure is held like a success', (edit) =>
    endOf(edit).state === 'failed' ? { note: changed(edit.note, { state: 'done' }) } : {},
  ),
  asking(onRelease, 'an abandoned round is held', (edit) =>
    endOf(edit).state === 'abandoned' ? { forMs: HOUR } : {},
  ),
  leaving(onRelease, 'release does nothing', (_, record) => record),
  leaving(onRelease, 'the hold counts from the end of the lease', (next, record, { forMs }) =>
    next === record ? next : { ...next, until: record.until + forMs },
  ),
  asking(onRelease, 'the hold is half as long', ({ forMs }) => ({ forMs: forMs / 2 })),
  fault('keepFor counts from the release', {
    answer(this: Backend, edit: Edit) {
      const { name, token, keepMs } = edit as Amend;
      if (stepOf(edit) === 'release' && keepMs !== undefined)
        forget(this, name, keepMs, () => this.find(name)?.token === token);
      return Backend.prototype.answer.call(this, edit);
    },
  }),
  fault('keepFor holds for later leases too', {
    answer(this: Backend, edit: Edit) {
      if (edit.op === 'claim' && this.find(edit.name)?.keepMs !== undefined) forget(this, edit.name, 1);
      return Backend.prototype.answer.call(this, edit);
    },
  }),
  leaving(onRelease, 'a second release is refused', (next, record) => (next === record ? undefined : next)),
  leaving(onRelease, 'a second release restarts the hold', (next, _, { forMs }, { at }) => ({
    ...next,
    until: at + forMs,
  })),
  onRelease('a second release may change the outcome', (record, edit, now) =>
    record && isOwn(record, edit) && !isRunning(record)
      ? { ...record, note: edit.note as string, until: now.at + edit.forMs }
      : amended(record, edit, now),
  ),
  asking(onRelease, 'the error is lost', ({ note }) => ({ note: changed(note, { error: undefined }) })),
  asking(onRelease, 'the error is cut', (edit) => ({
    note: changed(edit.note, { error: endOf(edit).error?.slice(0, 255) }),
  })),

  // operators
  asking(onForceRelease, 'any token releases', (_, { token }) => ({ token })),
  leaving(onForceRelease, 'forceRelease does nothing', (_, record) => record),
  leaving(onForceRelease, 'forceRelease leaves the hold', (next, record) =>
    isRunning(record) ? next : { ...next, until: record.until },
  ),
  fault('forceRelease creates a record', {
    edited(record: MaybeRecord, edit: Edit, now: Instant) {
      const { name } = edit;
      if (record !== undefined || stepOf(edit) !== 'forceRelease') return edited(record, edit, now);
      const claim = { op: 'claim', name, id: 'x', text: '{}', forMs: 1, force: false } as const;
      return { next: claimed(undefined, claim, now), isDone: false };
    },
  }),
  fault('the prefix is a LIKE pattern', {
    isListed: (name: string, prefix: string) => {
      const literal = prefix.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      return new RegExp(`^${literal.replaceAll('%', '.*').replaceAll('_', '.')}`, 's').test(name);
    },
  }),
  fault('the prefix is a glob', {
    isListed: (name: string, prefix: string) => {
      const literal = prefix.replace(/[.+^${}()|\\]/g, '\\$&');
      return new RegExp(`^${literal.replaceAll('*', '.*').replaceAll('?', '.')}`, 's').test(name);
    },
  }),
  fault('the prefix is a substring', { isListed: (name: string, prefix: string) => name.includes(prefix) }),
  fault('only live leases are listed', {
    isListed: (name: string, prefix: string, record: StoredRecord, now: Instant) =>
      name.startsWith(prefix) && isLive(record, now),
  }),
  fault('the limit is ignored', {
    list(this: Backend, prefix: string) {
      return Backend.prototype.list.call(this, prefix, Infinity);
    },
  }),
  outside('the list is not sorted', (lock) => ({
    list: async (options) => (await lock.list(options)).reverse(),
  })),

  // an unreachable backend
  gone('the error of the client passes through', {
    extend: () => Promise.reject(new Error('ECONNREFUSED')),
  }),
  gone('an unknown result counts as false', { release: async () => false }),
  gone('an unreachable backend has no records', { inspect: async () => undefined }),
  gone('an unreachable backend has an empty list', { list: async () => [] }),

  // shown values
  shown('the answer has another owner', ({ text }) => ({ text: changed(text, { owner: 'nobody' }) })),
  shown('the answer has another host', ({ text }) => ({ text: changed(text, { host: 'nowhere' }) })),
  shown('the remaining time never shrinks', (row) =>
    isRunning(row) && row.left > 0 ? { left: 60_000 } : {},
  ),
  shown('the hold never shrinks', (row) => (!isRunning(row) && row.left > 0 ? { left: 60_000 } : {})),
  shown('seconds instead of milliseconds', ({ left }) => ({ left: left / 1000 })),
  fault('now in seconds', { told: (wall: number) => wall / 1000 }),
  fault('now is another clock for held', {
    told: (wall: number, row: Row | undefined) => (row && row.age > 0 ? wall + HOUR : wall),
  }),
  shown('finishedAgo is an instant', () => ({ changedAgo: 1e12 })),
  shown('acquiredAgo is an instant', () => ({ age: 1e12 })),
  shown('acquiredAgo is always 0', () => ({ age: 0 })),
  shown('finishedAgo is always 0', () => ({ changedAgo: 0 })),
  shown('an empty error instead of none', (row) => ({
    note: changed(row.note, { error: endOf(row).error ?? '' }),
  })),

  // damaged records
  shown('damage is not reported', () => ({ replaced: undefined })),
  acquiring('an edited token is exceeded', ({ token }, record) => ({
    token: Math.max(token, (record?.token ?? 0) + 1),
  })),

  // names
  fault('one lock for all names', { keyOf: () => 'all' }),
  fault('names of any case are the same', { keyOf: (name: string) => name.toLowerCase() }),
  fault('trailing spaces are ignored', { keyOf: (name: string) => name.trimEnd() }),
  fault('names are normalized', { keyOf: (name: string) => name.normalize() }),
  fault('names are paths', { keyOf: (name: string) => new URL(name, 'file:///').pathname }),
  fault('long names are cut', { keyOf: (name: string) => name.slice(0, 150) }),
  fault('wide names are rejected', {
    keyOf: (name: string) => {
      if (name.includes('\u00e9')) throw new Error('too long');
      return name;
    },
  }),
  outside('longestName is too small', () => ({ longestName: 100 })),
  outside('an empty name is accepted', (lock) => ({
    acquire: (request) => lock.acquire({ ...request, name: request.name || 'empty' }),
  })),
  outside('any lease is accepted', (lock) => ({
    acquire: (request) => lock.acquire({ ...request, leaseFor: 1000 }),
  })),
  outside('any host is accepted', (lock) => ({
    acquire: (request) => lock.acquire({ ...request, host: 'host' }),
  })),
  onAcquire('long leases end early', (record, edit, now) =>
    claimed(record, { ...edit, forMs: Math.min(edit.forMs, 1e9) }, now),
  ),

  // several names
  askingSeveral('acquire', 'the answers are ordered by name', (edits) =>
    edits.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  ),
  askingSeveral('acquire', 'one leaseFor for all names', (edits) =>
    edits.map((edit) => ({ ...edit, forMs: (edits[0] as Claim).forMs })),
  ),
  askingSeveral('acquire', 'one force for all names', (edits) =>
    edits.map((edit) => ({ ...edit, force: edits.some(({ force }) => force) })),
  ),
  askingSeveral('acquire', 'a repeated acquire of several names is a new request', (edits) =>
    edits.map((edit) => ({ ...edit, id: `${Math.random()}` })),
  ),
  askingSeveral('acquire', 'names after the hundredth are left out', (edits) => edits.slice(0, 100)),
  several('acquire', 'the records of several names are read, then written', async (backend, edits) => {
    const now = backend.now();
    const records = edits.map((edit) => claimed(backend.find(edit.name), edit, now));
    await new Promise((resolve) => setTimeout(resolve, 2));
    edits.forEach(({ name }, i) => {
      backend.put(name, records[i]);
    });
    return records.map((record) => ({ isDone: true, row: backend.rowOf(record, now) }));
  }),
  several('acquire', 'a damaged record fails all names', async (backend, edits) => {
    if (edits.some(({ name }) => (backend.find(name)?.until ?? 0) > 1e15)) throw new Error('damaged');
    return Backend.prototype.answers.call(backend, edits);
  }),
  askingSeveral('release', 'all leases end with the first outcome', (edits) => {
    const { note, forMs, keepMs } = edits[0] as Amend;
    return edits.map((edit) => ({ ...edit, note, forMs, keepMs }));
  }),
  several('release', 'one keepFor for all names', (backend, edits) => {
    // The shortest: releases of other cases may be in the same call.
    const kept = edits.flatMap(({ keepMs }) => (keepMs === undefined ? [] : [keepMs]));
    if (kept.length > 0) for (const { name } of edits) forget(backend, name, Math.min(...kept));
    return Backend.prototype.answers.call(backend, edits);
  }),
  ...(['release', 'extend'] as const).map((step) =>
    several(step, `several calls of ${step} return true`, async (backend, edits) => {
      const answers = await Backend.prototype.answers.call(backend, edits);
      return answers.map((answer) => ({ ...answer, isDone: true }));
    }),
  ),
  askingSeveral('extend', 'one leaseFor for all extensions', (edits) =>
    edits.map((edit) => ({ ...edit, forMs: (edits[0] as Amend).forMs })),
  ),
  askingSeveral('extend', 'extensions after the hundredth are left out', (edits) => edits.slice(0, 100)),
  outside('leaseFor is NaN', () => ({ leaseFor: Number.NaN })),
];
