import type { Lock } from '../../../src/records/lock/create-lock.ts';
import type { BackendSubject } from '../../support/lock-conformance/index.ts';
import { lockOn } from '../../support/parts.ts';
import {
  type Ending,
  type LeaseEnd,
  type LeaseExtension,
  type LockRow,
  recordsOfLock,
  type StepsOfLock,
} from '../../support/records-of-steps.ts';
import {
  acquired,
  type BackendRecord,
  extended,
  forceReleased,
  type Instant,
  isLive,
  released,
  rowOf,
} from './lock-record.ts';

type Acquire = Parameters<typeof acquired>;
type Extend = Parameters<typeof extended>;
type Release = Parameters<typeof released>;
type ForceRelease = Parameters<typeof forceReleased>;

/** A correct backend in memory; a fault replaces one of its methods. */
class Backend implements StepsOfLock {
  records: Map<string, BackendRecord> = new Map();

  now(): Instant {
    return { at: performance.now(), wall: Date.now() };
  }

  keyOf(name: string): string {
    return name;
  }

  acquired(...asked: Acquire): BackendRecord {
    return acquired(...asked);
  }

  extended(...asked: Extend): BackendRecord | undefined {
    return extended(...asked);
  }

  released(...asked: Release): BackendRecord | undefined {
    return released(...asked);
  }

  forceReleased(...asked: ForceRelease): BackendRecord | undefined {
    return forceReleased(...asked);
  }

  rowOf(name: string, record: BackendRecord, now: Instant): LockRow {
    return rowOf(name, record, now);
  }

  isListed(name: string, prefix: string): boolean {
    return name.startsWith(prefix);
  }

  async acquire(request: Acquire[1]): Promise<LockRow> {
    const now = this.now();
    const record = this.acquired(this.records.get(this.keyOf(request.name)), request, now);
    this.records.set(this.keyOf(request.name), record);
    return this.rowOf(request.name, record, now);
  }

  async extend(lease: Extend[1], leaseFor: number): Promise<boolean> {
    const record = this.records.get(this.keyOf(lease.name));
    return this.put(lease.name, this.extended(record, lease, leaseFor, this.now().at));
  }

  async release(lease: Release[1], ending: Ending): Promise<boolean> {
    const record = this.records.get(this.keyOf(lease.name));
    return this.put(lease.name, this.released(record, lease, ending, this.now().at));
  }

  async forceRelease(name: string, token: number): Promise<boolean> {
    const record = this.records.get(this.keyOf(name));
    return this.put(name, this.forceReleased(record, token, this.now().at));
  }

  async acquireMany(requests: readonly Acquire[1][]): Promise<LockRow[]> {
    return Promise.all(requests.map((request) => this.acquire(request)));
  }

  async releaseMany(ends: readonly LeaseEnd[]): Promise<boolean[]> {
    return Promise.all(ends.map(({ lease, ending }) => this.release(lease, ending)));
  }

  async extendMany(extensions: readonly LeaseExtension[]): Promise<boolean[]> {
    return Promise.all(extensions.map(({ lease, leaseFor }) => this.extend(lease, leaseFor)));
  }

  async find(name: string): Promise<LockRow | undefined> {
    const record = this.records.get(this.keyOf(name));
    return record && this.rowOf(name, record, this.now());
  }

  async list(prefix: string, limit: number): Promise<LockRow[]> {
    const listed = [...this.records].filter(([name]) => this.isListed(name, prefix)).sort();
    return listed.slice(0, limit).map(([name, record]) => this.rowOf(name, record, this.now()));
  }

  put(name: string, record: BackendRecord | undefined): boolean {
    if (record === undefined) return false;
    this.records.set(this.keyOf(name), record);
    return true;
  }
}

/** Never answers. */
class SilentBackend extends Backend {
  override now(): never {
    throw new Error('ECONNREFUSED');
  }

  override async find(): Promise<never> {
    return new Promise(() => {});
  }

  override async list(): Promise<never> {
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

const onAcquire = (name: string, step: (...args: Acquire) => BackendRecord): LockFault =>
  fault(name, { acquired: step });

const onExtend = (name: string, step: (...args: Extend) => BackendRecord | undefined): LockFault =>
  fault(name, { extended: step });

const onRelease = (name: string, step: (...args: Release) => BackendRecord | undefined): LockFault =>
  fault(name, { released: step });

const onForceRelease = (
  name: string,
  step: (...args: ForceRelease) => BackendRecord | undefined,
): LockFault => fault(name, { forceReleased: step });

function outside(name: string, change: (lock: Lock) => Partial<Lock>): LockFault {
  return { fault: name, backend: () => new Backend(), change };
}

function gone(name: string, unreachable: Partial<Lock>): LockFault {
  return { fault: name, backend: () => new Backend(), unreachable };
}

function shown(name: string, change: (row: LockRow, record: BackendRecord) => Partial<LockRow>): LockFault {
  return fault(name, {
    rowOf: (key: string, record: BackendRecord, now: Instant): LockRow => {
      const row = rowOf(key, record, now);
      return { ...row, ...change(row, record) };
    },
  });
}

function acquiring(
  name: string,
  change: (fresh: BackendRecord, ...asked: Acquire) => Partial<BackendRecord>,
): LockFault {
  return fault(name, {
    acquired: (...asked: Acquire): BackendRecord => {
      const record = acquired(...asked);
      return record === asked[0] ? record : { ...record, ...change(record, ...asked) };
    },
  });
}

function acquiringMany(
  name: string,
  step: (
    acquire: (requests: readonly Acquire[1][]) => Promise<LockRow[]>,
    requests: readonly Acquire[1][],
  ) => Promise<LockRow[]>,
): LockFault {
  return fault(name, {
    acquireMany(this: Backend, requests: readonly Acquire[1][]) {
      return step((some) => Promise.all(some.map((one) => this.acquire(one))), requests);
    },
  });
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

/** The subject of the suite: one backend with the fault. */
export function faultyLock({ backend, change, unreachable }: LockFault): BackendSubject {
  const shared = backend();
  const lock = lockOn(recordsOfLock(shared), {}, { longestName: 200, options: [] });
  const silent = lockOn(
    recordsOfLock(new SilentBackend()),
    { timeout: 20 },
    { longestName: 200, options: [] },
  );
  return {
    lock: () => partly(lock, change?.(lock)),
    forget: (name) => void shared.records.delete(name),
    damage(name, field) {
      const record = shared.records.get(name) as BackendRecord;
      shared.records.set(name, {
        ...record,
        [field]: field === 'state' ? 'abc' : 2 ** 53 - 2,
      } as BackendRecord);
    },
    unreachable: () => partly(silent, unreachable),
  };
}

export const CORRECT: LockFault = fault('none', {});

const isOwn = (record: BackendRecord | undefined, lease: { token: number; requestId: string }): boolean =>
  record?.token === lease.token && record.requestId === lease.requestId;

export const LOCK_FAULTS: readonly LockFault[] = [
  // the lease
  acquiring('a lease that lasts for hours', () => ({ leaseUntil: 1e12 })),
  acquiring('a lease of half the time', (fresh, _, { leaseFor }) => ({
    leaseUntil: fresh.leaseUntil - leaseFor / 2,
  })),
  onAcquire('no exclusion: every acquire succeeds', (record, request, now) =>
    acquired(record && { ...record, leaseUntil: 0 }, request, now),
  ),
  onAcquire('an acquire extends the lease of the holder', (record, request, now) => {
    const next = acquired(record, request, now);
    return next === record && isLive(record, now.at)
      ? { ...record, leaseUntil: now.at + request.leaseFor }
      : next;
  }),
  onAcquire('an acquire extends the hold', (record, request, now) => {
    const next = acquired(record, request, now);
    return next === record && next.notBefore > now.at
      ? { ...record, notBefore: next.notBefore + 1000 }
      : next;
  }),
  onAcquire('the same owner acquires again', (record, request, now) => {
    const next = acquired(record, request, now);
    return next === record && next.owner === request.owner ? { ...next, requestId: request.requestId } : next;
  }),
  onAcquire('the same host acquires again', (record, request, now) => {
    const next = acquired(record, request, now);
    const isSameHost = next === record && next.host === request.host;
    return isSameHost ? { ...next, owner: request.owner, requestId: request.requestId } : next;
  }),
  onAcquire('a repeated request counts as a new one', (record, request, now) => {
    const next = acquired(record, request, now);
    return next === record ? { ...next, requestId: 'x' } : next;
  }),
  onAcquire('a repeated request gets another token', (record, request, now) => {
    const next = acquired(record, request, now);
    return next === record && next.requestId === request.requestId
      ? { ...next, token: next.token + 1 }
      : next;
  }),
  onAcquire('a repeated request revives its expired lease', (record, request, now) => {
    const isAgain = record?.state === 'running' && record.requestId === request.requestId;
    return isAgain ? { ...record, leaseUntil: now.at + request.leaseFor } : acquired(record, request, now);
  }),
  onAcquire('a repeated request starts its done round again', (record, request, now) => {
    const isAgain = record?.requestId === request.requestId;
    return isAgain && record.state !== 'running'
      ? acquired(undefined, request, now)
      : acquired(record, request, now);
  }),
  onAcquire('force ignores a live lease', (record, request, now) =>
    acquired(request.force ? record && { ...record, leaseUntil: 0 } : record, request, now),
  ),
  onAcquire('force ignores nothing', (record, request, now) =>
    acquired(record, { ...request, force: false }, now),
  ),
  onAcquire('force ignores only done', (record, request, now) =>
    acquired(record, { ...request, force: request.force && record?.state === 'done' }, now),
  ),
  onAcquire('an expired lease is never taken over', (record, request, now) =>
    record?.state === 'running' ? record : acquired(record, request, now),
  ),
  fault('the record disappears with the lease', {
    async find(this: Backend, name: string) {
      const record = this.records.get(name);
      return record && isLive(record, this.now().at) ? this.rowOf(name, record, this.now()) : undefined;
    },
  }),
  fault('contention is an error', {
    async acquire(this: Backend, request: Acquire[1]) {
      const now = this.now();
      const record = this.acquired(this.records.get(request.name), request, now);
      if (record.requestId !== request.requestId) throw new Error('held');
      this.put(request.name, record);
      return this.rowOf(request.name, record, now);
    },
  }),
  fault('two steps instead of one: the record is read, then written', {
    async acquire(this: Backend, request: Acquire[1]) {
      const now = this.now();
      const record = this.acquired(this.records.get(request.name), request, now);
      await new Promise((resolve) => setTimeout(resolve, 2));
      this.put(request.name, record);
      return this.rowOf(request.name, record, now);
    },
  }),

  // tokens
  acquiring('the token counts from one', (_, record) => ({ token: (record?.token ?? 0) + 1 })),
  acquiring('the token is the clock in milliseconds', (_, __, ___, now) => ({ token: Math.floor(now.wall) })),
  acquiring('the token is a fraction', (fresh) => ({ token: fresh.token + 0.5 })),
  acquiring('the token is not safe', (fresh) => ({ token: fresh.token * 1e6 })),
  acquiring('a takeover keeps the token', (fresh, record) =>
    fresh.tookOver && record ? { token: record.token } : {},
  ),
  acquiring('a forced acquire keeps the token', (_, record, { force }) =>
    force && record ? { token: record.token } : {},
  ),
  ...(['done', 'failed', 'abandoned', 'released'] as const).map((state) =>
    acquiring(`the token goes back after ${state}`, (fresh, record) =>
      record?.state === state ? { token: record.token - 1 } : fresh,
    ),
  ),

  // takeovers
  acquiring('tookOver is true after the first acquire', (_, record) => ({ tookOver: record !== undefined })),
  acquiring('tookOver is never true', () => ({ tookOver: false })),
  ...(['done', 'failed', 'abandoned', 'released'] as const).map((state) =>
    acquiring(`tookOver is true after ${state}`, (fresh, record) => ({
      tookOver: fresh.tookOver || record?.state === state,
    })),
  ),
  acquiring('the error of the last round stays', (_, record) => ({ lastError: record?.lastError ?? null })),

  // extend
  onExtend(
    'extend by name only',
    (record, _, leaseFor, at) => record && { ...record, leaseUntil: at + leaseFor },
  ),
  onExtend(
    'extend ignores the token',
    (record, lease, leaseFor, at) =>
      record && extended(record, { ...lease, token: record.token }, leaseFor, at),
  ),
  onExtend(
    'extend ignores the request',
    (record, lease, leaseFor, at) =>
      record && extended(record, { ...lease, requestId: record.requestId }, leaseFor, at),
  ),
  onExtend('extend of an expired lease', (record, lease, leaseFor, at) =>
    isOwn(record, lease) && record?.state === 'running'
      ? { ...record, leaseUntil: at + leaseFor }
      : undefined,
  ),
  onExtend('extend of a released lease', (record, lease, leaseFor, at) =>
    isOwn(record, lease) && record && (isLive(record, at) || record.state !== 'running')
      ? { ...record, state: 'running', leaseUntil: at + leaseFor }
      : undefined,
  ),
  onExtend('extend adds to the lease', (record, lease, leaseFor, at) => {
    const next = extended(record, lease, leaseFor, at);
    return next && record && { ...next, leaseUntil: record.leaseUntil + leaseFor };
  }),
  onExtend('extend never shortens', (record, lease, leaseFor, at) => {
    const next = extended(record, lease, leaseFor, at);
    return next && record && { ...next, leaseUntil: Math.max(next.leaseUntil, record.leaseUntil) };
  }),
  onExtend(
    'extend does nothing',
    (record, lease, leaseFor, at) => extended(record, lease, leaseFor, at) && record,
  ),
  onExtend('extend resets acquiredAt', (record, lease, leaseFor, at) => {
    const next = extended(record, lease, leaseFor, at);
    return next && { ...next, acquiredAt: at };
  }),

  // release
  onRelease(
    'release by name only',
    (record, _, ending, at) =>
      record && {
        ...record,
        state: ending.state,
        leaseUntil: at,
        notBefore: at + ending.holdFor,
        finishedAt: at,
      },
  ),
  onRelease(
    'release ignores the request',
    (record, lease, ending, at) =>
      record && released(record, { ...lease, requestId: record.requestId }, ending, at),
  ),
  onRelease(
    'release ignores the token',
    (record, lease, ending, at) => record && released(record, { ...lease, token: record.token }, ending, at),
  ),
  onRelease('release of an expired lease', (record, lease, ending, at) =>
    isOwn(record, lease) && record?.state === 'running'
      ? released({ ...record, leaseUntil: at + 1 }, lease, ending, at)
      : released(record, lease, ending, at),
  ),
  onRelease('release forgets the confirmation', (record, lease, ending, at) =>
    released(record, lease, { ...ending, confirms: undefined }, at),
  ),
  onRelease('release forgets the hold', (record, lease, ending, at) =>
    released(record, lease, { ...ending, holdFor: 0 }, at),
  ),
  onRelease('a failure is held for an hour', (record, lease, ending, at) =>
    released(record, lease, ending.state === 'failed' ? { ...ending, holdFor: 3_600_000 } : ending, at),
  ),
  onRelease('a failure is held like a success', (record, lease, ending, at) =>
    released(record, lease, ending.state === 'failed' ? { ...ending, state: 'done' } : ending, at),
  ),
  onRelease('an abandoned round is held', (record, lease, ending, at) =>
    released(record, lease, ending.state === 'abandoned' ? { ...ending, holdFor: 3_600_000 } : ending, at),
  ),
  onRelease(
    'release does nothing',
    (record, lease, ending, at) => released(record, lease, ending, at) && record,
  ),
  onRelease('the hold counts from the end of the lease', (record, lease, ending, at) => {
    const next = released(record, lease, ending, at);
    return next && record && next !== record
      ? { ...next, notBefore: record.leaseUntil + ending.holdFor }
      : next;
  }),
  onRelease('the hold is half as long', (record, lease, ending, at) =>
    released(record, lease, { ...ending, holdFor: ending.holdFor / 2 }, at),
  ),
  fault('keepFor counts from the release', {
    async release(this: Backend, lease: Release[1], ending: Ending) {
      const { keepFor } = ending;
      if (keepFor !== undefined) {
        setTimeout(() => {
          if (this.records.get(lease.name)?.token === lease.token) this.records.delete(lease.name);
        }, keepFor);
      }
      return Backend.prototype.release.call(this, lease, ending);
    },
  }),
  fault('keepFor holds for later leases too', {
    async acquire(this: Backend, request: Acquire[1]) {
      const { keepFor } = this.records.get(request.name) ?? {};
      if (keepFor !== undefined) setTimeout(() => this.records.delete(request.name), 1);
      return Backend.prototype.acquire.call(this, request);
    },
  }),
  onRelease('a second release is refused', (record, lease, ending, at) => {
    const next = released(record, lease, ending, at);
    return next === record ? undefined : next;
  }),
  onRelease('a second release restarts the hold', (record, lease, ending, at) => {
    const next = released(record, lease, ending, at);
    return next && { ...next, notBefore: at + ending.holdFor };
  }),
  onRelease('a second release may change the outcome', (record, lease, ending, at) =>
    record && isOwn(record, lease) && record.state !== 'running'
      ? { ...record, state: ending.state, notBefore: at + ending.holdFor }
      : released(record, lease, ending, at),
  ),
  onRelease('the error is lost', (record, lease, ending, at) =>
    released(record, lease, { ...ending, error: undefined }, at),
  ),
  onRelease('the error is cut', (record, lease, ending, at) =>
    released(record, lease, { ...ending, error: ending.error?.slice(0, 255) }, at),
  ),

  // operators
  onForceRelease('any token releases', (record, _, at) => record && forceReleased(record, record.token, at)),
  onForceRelease('forceRelease does nothing', (record, token) =>
    record?.token === token ? record : undefined,
  ),
  onForceRelease('forceRelease leaves the hold', (record, token, at) => {
    const next = forceReleased(record, token, at);
    return next && record && { ...next, notBefore: record.notBefore };
  }),
  fault('forceRelease creates a record', {
    async forceRelease(this: Backend, name: string, token: number) {
      if (this.records.has(name))
        return this.put(name, forceReleased(this.records.get(name), token, this.now().at));
      await this.acquire({ name, owner: 'x', requestId: 'x', leaseFor: 1, host: 'x', force: false });
      return false;
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
    async list(this: Backend, prefix: string, limit: number) {
      const rows = [...this.records].map(([name, record]) => this.rowOf(name, record, this.now()));
      return rows.filter(({ name, leaseLeft }) => name.startsWith(prefix) && leaseLeft > 0).slice(0, limit);
    },
  }),
  fault('the limit is ignored', {
    async list(this: Backend, prefix: string) {
      const rows = [...this.records].map(([name, record]) => this.rowOf(name, record, this.now()));
      return rows.filter(({ name }) => name.startsWith(prefix));
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
  shown('the answer has another owner', () => ({ owner: 'nobody' })),
  shown('the answer has another host', () => ({ host: 'nowhere' })),
  shown('the remaining time never shrinks', (row) => ({ leaseLeft: row.leaseLeft > 0 ? 60_000 : 0 })),
  shown('the hold never shrinks', (row) => ({ holdLeft: row.holdLeft > 0 ? 60_000 : 0 })),
  shown('seconds instead of milliseconds', (row) => ({
    leaseLeft: row.leaseLeft / 1000,
    holdLeft: row.holdLeft / 1000,
  })),
  shown('now in seconds', ({ now }) => ({ now: now / 1000 })),
  shown('now is another clock for held', ({ now, acquiredAgo }) => ({
    now: acquiredAgo > 0 ? now + 3_600_000 : now,
  })),
  shown('finishedAgo is missing', () => ({ finishedAgo: undefined })),
  shown('finishedAgo is an instant', (_, { finishedAt }) => ({
    finishedAgo: finishedAt === null ? undefined : 1e12,
  })),
  shown('acquiredAgo is an instant', () => ({ acquiredAgo: 1e12 })),
  shown('acquiredAgo is always 0', () => ({ acquiredAgo: 0 })),
  shown('finishedAgo is always 0', ({ finishedAgo }) => ({
    finishedAgo: finishedAgo === undefined ? undefined : 0,
  })),
  shown('an empty error instead of none', ({ lastError }) => ({ lastError: lastError ?? '' })),

  // damaged records
  shown('damage is not reported', () => ({ lastError: undefined })),
  onAcquire('an edited token is exceeded', (record, request, now) => {
    const next = acquired(record, request, now);
    return next === record ? next : { ...next, token: Math.max(next.token, (record?.token ?? 0) + 1) };
  }),

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
    acquire: (request) => lock.acquire({ ...request, leaseFor: Number(request.leaseFor) > 0 ? 1000 : 1000 }),
  })),
  outside('any host is accepted', (lock) => ({
    acquire: (request) => lock.acquire({ ...request, host: 'host' }),
  })),
  fault('long leases end early', {
    acquired: (record: Acquire[0], request: Acquire[1], now: Instant) =>
      acquired(record, { ...request, leaseFor: Math.min(request.leaseFor, 1e9) }, now),
  }),
  // several names
  acquiringMany('the answers are ordered by name', (acquire, requests) =>
    acquire(requests.toSorted((a, b) => (a.name < b.name ? -1 : 1))),
  ),
  acquiringMany('one leaseFor for all names', (acquire, requests) =>
    acquire(requests.map((request) => ({ ...request, leaseFor: requests[0]?.leaseFor as number }))),
  ),
  acquiringMany('one force for all names', (acquire, requests) =>
    acquire(requests.map((request) => ({ ...request, force: requests.some(({ force }) => force) }))),
  ),
  acquiringMany('a repeated acquire of several names is a new request', (acquire, requests) =>
    acquire(requests.map((request) => ({ ...request, requestId: `${Math.random()}` }))),
  ),
  acquiringMany('names after the hundredth are left out', (acquire, requests) =>
    acquire(requests.slice(0, 100)),
  ),
  fault('the records of several names are read, then written', {
    async acquireMany(this: Backend, requests: readonly Acquire[1][]) {
      const now = this.now();
      const records = requests.map((one) => this.acquired(this.records.get(one.name), one, now));
      await new Promise((resolve) => setTimeout(resolve, 2));
      requests.forEach(({ name }, i) => {
        this.put(name, records[i]);
      });
      return requests.map(({ name }, i) => this.rowOf(name, records[i] as BackendRecord, now));
    },
  }),
  fault('a damaged record fails all names', {
    async acquireMany(this: Backend, requests: readonly Acquire[1][]) {
      const isDamaged = ({ name }: Acquire[1]) => (this.records.get(name)?.leaseUntil ?? 0) > 1e15;
      if (requests.some(isDamaged)) throw new Error('damaged');
      return Promise.all(requests.map((request) => this.acquire(request)));
    },
  }),
  fault('all leases end with the first outcome', {
    releaseMany(this: Backend, ends: readonly LeaseEnd[]) {
      return Promise.all(ends.map(({ lease }) => this.release(lease, (ends[0] as LeaseEnd).ending)));
    },
  }),
  fault('one keepFor for all names', {
    releaseMany(this: Backend, ends: readonly LeaseEnd[]) {
      const forget = () => ends.map(({ lease }) => this.records.delete(lease.name));
      const keepFor = ends.find(({ ending }) => ending.keepFor !== undefined)?.ending.keepFor;
      if (keepFor !== undefined) setTimeout(forget, keepFor);
      return Promise.all(ends.map(({ lease, ending }) => this.release(lease, ending)));
    },
  }),
  fault('several releases return true', {
    async releaseMany(this: Backend, ends: readonly LeaseEnd[]) {
      for (const { lease, ending } of ends) await this.release(lease, ending);
      return ends.map(() => true);
    },
  }),
  fault('one leaseFor for all extensions', {
    extendMany(this: Backend, extensions: readonly LeaseExtension[]) {
      const { leaseFor } = extensions[0] as LeaseExtension;
      return Promise.all(extensions.map(({ lease }) => this.extend(lease, leaseFor)));
    },
  }),
  fault('several extensions return true', {
    async extendMany(this: Backend, extensions: readonly LeaseExtension[]) {
      for (const { lease, leaseFor } of extensions) await this.extend(lease, leaseFor);
      return extensions.map(() => true);
    },
  }),
  fault('extensions after the hundredth are left out', {
    extendMany(this: Backend, extensions: readonly LeaseExtension[]) {
      const some = extensions.slice(0, 100);
      return Promise.all(some.map(({ lease, leaseFor }) => this.extend(lease, leaseFor)));
    },
  }),
  outside('leaseFor is NaN', () => ({ leaseFor: Number.NaN })),
];
