import { isPlausibleToken as isPlausibleVersion } from '../../../src/cluster/plausible.ts';
import type {
  InstanceReport,
  SnapshotStore,
  StoredReport,
  StoredSnapshot,
  WriteAnswer,
} from '../../../src/cluster/store-contract.ts';
import { storeOn } from '../../support/parts.ts';
import {
  recordsOfStore,
  type SnapshotRead,
  type SnapshotWrite,
  type StepsOfStore,
} from '../../support/records-of-steps.ts';
import type { StoreSubject } from '../../support/store-conformance.ts';
import { partly } from './partly.ts';

interface Written {
  readonly version: number;
  readonly writtenAt: number;
  readonly payload: string;
  readonly confirmed?: { readonly text: string; readonly at: number };
}

/** A correct backend in memory; a fault replaces one of its methods. */
class Backend {
  snapshots: Map<string, Written> = new Map();

  keepsAgeOfRepeated(): boolean {
    return true;
  }

  keyOf(name: string): string {
    return name;
  }

  isPlausible(version: number): boolean {
    return isPlausibleVersion(version, Date.now());
  }

  isRefused(token: number | undefined, stored: number, rejected?: number): boolean {
    return token !== undefined && token < stored && stored !== rejected;
  }

  versionOf(token: number | undefined, stored: number): number {
    return token ?? Math.max(stored + 1, Date.now() * 1000);
  }

  isNewer(version: number, newerThan: number | undefined): boolean {
    return newerThan === undefined || version > newerThan;
  }

  ageOf({ writtenAt }: Written): number {
    return performance.now() - writtenAt;
  }

  kept(payload: string): string {
    return payload;
  }

  pause(): Promise<unknown> | undefined {
    return undefined;
  }

  takesReports = true;

  /** The report of a step that is not a check. */
  leave(report: InstanceReport): void {
    const { instance, serial = Number.POSITIVE_INFINITY } = report;
    const { serial: held = 0 } = this.reported.get(instance) ?? {};
    if (serial >= held) this.reported.set(instance, { ...report, at: performance.now() });
  }

  async read(name: string, newerThan?: number): ReturnType<SnapshotStore['read']> {
    const written = this.snapshots.get(this.keyOf(name));
    if (written === undefined || !this.isNewer(written.version, newerThan)) return undefined;
    if (!this.isPlausible(written.version)) return { version: 0, age: 0, payload: '', damage: 'its version' };
    const { version, payload, confirmed } = written;
    const { text, at = 0 } = confirmed ?? {};
    const confirmation = text === undefined ? {} : { confirmation: { text, age: performance.now() - at } };
    return { version, payload, age: this.ageOf(written), ...confirmation };
  }

  async write(...asked: Parameters<SnapshotStore['write']>): Promise<WriteAnswer> {
    const [name, payload, token, rejected] = asked;
    const before = this.snapshots.get(this.keyOf(name));
    const present = before?.version ?? 0;
    const stored = this.isPlausible(present) ? present : 0;
    if (this.isRefused(token, stored, rejected)) return { kind: 'refused', version: stored };
    const version = this.versionOf(token, stored);
    const pause = this.pause();
    if (pause !== undefined) await pause;
    const kept = this.kept(payload);
    const isRepeated = token === present && kept === before?.payload && this.keepsAgeOfRepeated();
    const writtenAt = isRepeated ? before.writtenAt : performance.now();
    this.snapshots.set(this.keyOf(name), { version, payload: kept, writtenAt });
    return { kind: 'written', version };
  }

  async confirm(name: string, version: number, text: string): Promise<WriteAnswer> {
    const written = this.snapshots.get(this.keyOf(name));
    if (written?.version !== version) return { kind: 'refused', version: written?.version ?? 0 };
    this.snapshots.set(this.keyOf(name), { ...written, confirmed: { text, at: performance.now() } });
    return { kind: 'written', version };
  }

  async readMany(reads: readonly SnapshotRead[]): Promise<(StoredSnapshot | undefined)[]> {
    return Promise.all(reads.map(({ name, newerThan }) => this.read(name, newerThan)));
  }

  async writeMany(writes: readonly SnapshotWrite[]): Promise<WriteAnswer[]> {
    return Promise.all(
      writes.map(({ name, payload, token, rejected, keepFor }) =>
        this.write(name, payload, token, rejected, keepFor),
      ),
    );
  }

  reported: Map<string, InstanceReport & { readonly at: number }> = new Map();

  async versions(names: readonly string[], report?: InstanceReport): Promise<number[]> {
    if (report !== undefined) this.leave(report);
    const versions = names.map((name) => this.snapshots.get(this.keyOf(name))?.version ?? 0);
    return versions.map((version) => (this.isPlausible(version) ? version : 0));
  }

  async reports(beginning: string): Promise<StoredReport[]> {
    const ages = [...this.reported.values()].map((one) => ({ ...one, age: performance.now() - one.at }));
    const present = ages.filter(({ age, keepFor }) => age < keepFor);
    return present.filter(({ instance }) => instance.startsWith(beginning));
  }

  async delete(name: string): Promise<boolean> {
    return this.snapshots.delete(this.keyOf(name));
  }
}

/** A mistake in an implementation of a store. */
export interface StoreFault {
  readonly fault: string;
  readonly parts: Parts;
  /** Changes the store instead of its backend. */
  readonly change?: (store: SnapshotStore) => Partial<SnapshotStore>;
  /** Changes the store of an unreachable backend. */
  readonly unreachable?: Partial<SnapshotStore>;
}

type Parts = { [K in keyof Backend]?: (this: Backend, ...args: never[]) => unknown };

const silent: StepsOfStore = {
  read: () => new Promise(() => {}),
  readMany: () => new Promise(() => {}),
  versions: () => new Promise(() => {}),
  writeMany: () => Promise.reject(new Error('ECONNREFUSED')),
  write: () => Promise.reject(new Error('ECONNREFUSED')),
  delete: () => {
    throw new Error('closed');
  },
};

/** The subject of the suite: one backend with the fault. */
export function faultyStore({ parts, change, unreachable }: StoreFault): StoreSubject {
  const kind = { longestName: 200, options: [] };
  const backend = Object.assign(new Backend(), parts);
  const store = storeOn(recordsOfStore(backend), {}, kind);
  return {
    inNamespace: (namespace) => storeOn(recordsOfStore(backend), { namespace }, kind),
    postdate(name, ms) {
      const written = backend.snapshots.get(backend.keyOf(name)) as Written;
      backend.snapshots.set(backend.keyOf(name), { ...written, writtenAt: written.writtenAt + ms });
    },
    store: () => partly(store, change?.(store)),
    unreachable: () => partly(storeOn(recordsOfStore(silent), { timeout: 20 }, kind), unreachable),
  };
}

function fault(name: string, parts: Parts): StoreFault {
  return { fault: name, parts };
}

function outside(name: string, change: StoreFault['change'] & {}): StoreFault {
  return { fault: name, parts: {}, change };
}

function readingMany(
  name: string,
  step: (
    read: (reads: readonly SnapshotRead[]) => Promise<(StoredSnapshot | undefined)[]>,
    reads: readonly SnapshotRead[],
  ) => Promise<(StoredSnapshot | undefined)[]>,
): StoreFault {
  return fault(name, {
    readMany(this: Backend, reads: readonly SnapshotRead[]) {
      return step((some) => Backend.prototype.readMany.call(this, some), reads);
    },
  });
}

function writingMany(
  name: string,
  step: (
    write: (writes: readonly SnapshotWrite[]) => Promise<WriteAnswer[]>,
    writes: readonly SnapshotWrite[],
  ) => Promise<WriteAnswer[]>,
): StoreFault {
  return fault(name, {
    writeMany(this: Backend, writes: readonly SnapshotWrite[]) {
      return step((some) => Backend.prototype.writeMany.call(this, some), writes);
    },
  });
}

function checking(
  name: string,
  step: (
    check: (names: readonly string[]) => Promise<number[]>,
    names: readonly string[],
  ) => Promise<number[]>,
): StoreFault {
  return fault(name, {
    versions(this: Backend, names: readonly string[], report?: InstanceReport) {
      return step((some) => Backend.prototype.versions.call(this, some, report), names);
    },
  });
}

function listing(name: string, change: (found: readonly StoredReport[]) => StoredReport[]): StoreFault {
  return fault(name, {
    async reports(this: Backend, beginning: string) {
      return change(await Backend.prototype.reports.call(this, beginning));
    },
  });
}

function reporting(
  name: string,
  isLost: (reported: ReadonlyMap<string, unknown>, report: InstanceReport) => boolean,
): StoreFault {
  return fault(name, {
    versions(this: Backend, names: readonly string[], report?: InstanceReport) {
      const kept = report && isLost(this.reported, report) ? undefined : report;
      return Backend.prototype.versions.call(this, names, kept);
    },
  });
}

export const CORRECT: StoreFault = fault('none', {});

export const STORE_FAULTS: readonly StoreFault[] = [
  // versions
  fault('an older token is accepted', { isRefused: () => false }),
  fault('the same token is refused', {
    isRefused: (token: number | undefined, stored: number) => token !== undefined && token <= stored,
  }),
  fault('a newer token is refused', {
    isRefused: (token: number | undefined, stored: number) =>
      token !== undefined && stored > 0 && token !== stored,
  }),
  fault('a write without a token is refused', {
    isRefused: (token: number | undefined) => token === undefined,
  }),
  fault('a rejected version refuses a write', {
    isRefused: (token: number | undefined, stored: number) => token !== undefined && token < stored,
  }),
  fault('any version is rejected', {
    isRefused: (token: number | undefined, stored: number, rejected?: number) =>
      token !== undefined && token < stored && rejected === undefined,
  }),
  fault('a version of any size is believed', { isPlausible: () => true }),
  fault('versions count from one', {
    versionOf: (token: number | undefined, stored: number) => token ?? stored + 1,
  }),
  fault('the version is the clock, whatever was there', {
    versionOf: (token: number | undefined) => token ?? Date.now() * 1000,
  }),
  fault('the version is the clock, whatever the token', {
    versionOf: (_: unknown, stored: number) => Math.max(stored + 1, Date.now() * 1000),
  }),
  fault('two steps instead of one: the version is read, then written', {
    pause: () => new Promise((resolve) => setTimeout(resolve, Math.random() * 5)),
  }),
  outside('a refused write returns its own version', (store) => ({
    async write(name, payload, token) {
      const answer = await store.write(name, payload, token);
      return { ...answer, version: token ?? answer.version };
    },
  })),
  outside('a refused write is an error', (store) => ({
    async write(name, payload, token) {
      const answer = await store.write(name, payload, token);
      if (answer.kind === 'refused') throw new Error('refused');
      return answer;
    },
  })),
  outside('a second write of the same token is forgotten', (store) => ({
    async write(name, payload, token) {
      const held = await store.read(name);
      if (held !== undefined && held.version === token) return { kind: 'written', version: token };
      return store.write(name, payload, token);
    },
  })),
  outside('a snapshot with keepFor is deleted at once', (store) => ({
    async write(...asked) {
      const answer = await store.write(...asked);
      if (asked[4] !== undefined) await store.delete(asked[0]);
      return answer;
    },
  })),
  fault('keepFor holds for later writes too', {
    async write(this: Backend & { brief?: Set<string> }, ...asked: Parameters<SnapshotStore['write']>) {
      const [name, , , , keepFor] = asked;
      this.brief ??= new Set();
      if (keepFor === undefined && this.brief.has(name)) setTimeout(() => this.delete(name), 1);
      if (keepFor !== undefined) this.brief.add(name);
      return Backend.prototype.write.call(this, ...asked);
    },
  }),

  // read
  fault('newerThan is ignored', { isNewer: () => true }),
  fault('newerThan includes the same version', {
    isNewer: (version: number, newerThan?: number) => newerThan === undefined || version >= newerThan,
  }),
  fault('nothing is newer than 0', { isNewer: (_: unknown, newerThan?: number) => newerThan === undefined }),
  outside('null instead of undefined', (store) => ({
    read: async (...asked) => (await store.read(...asked)) ?? (null as unknown as undefined),
  })),
  outside('the snapshot has more fields', (store) => ({
    async read(...asked) {
      const snapshot = await store.read(...asked);
      return snapshot && { ...snapshot, name: asked[0] };
    },
  })),

  // payloads
  fault('payloads are trimmed', { kept: (payload: string) => payload.trim() }),
  fault('payloads are normalized', { kept: (payload: string) => payload.normalize() }),
  fault('line ends are normalized', { kept: (payload: string) => payload.replaceAll('\r\n', '\n') }),
  fault('a byte order mark is removed', { kept: (payload: string) => payload.replace(/^\ufeff/, '') }),
  fault('payloads are Latin-1', {
    kept: (payload: string) => Buffer.from(payload, 'latin1').toString('latin1'),
  }),
  fault('payloads end at a million bytes', { kept: (payload: string) => payload.slice(0, 1_000_000) }),
  fault('an empty payload is absent', { kept: (payload: string) => payload || 'null' }),

  // age
  fault('a repeated write makes the snapshot young', { keepsAgeOfRepeated: () => false }),
  fault('the age is an instant', { ageOf: ({ writtenAt }: Written) => performance.timeOrigin + writtenAt }),
  fault('the age is in seconds', {
    ageOf: ({ writtenAt }: Written) => (performance.now() - writtenAt) / 1000,
  }),
  fault('the age is always 0', { ageOf: () => 0 }),
  fault('a write in the future has the age 0', {
    ageOf: ({ writtenAt }: Written) => Math.max(0, performance.now() - writtenAt),
  }),
  fault('the age is negative', { ageOf: ({ writtenAt }: Written) => writtenAt - performance.now() - 1 }),
  fault('the age counts from the first write', {
    ageOf(this: Backend & { firstAt?: number }, { writtenAt }: Written) {
      this.firstAt ??= writtenAt;
      return performance.now() - this.firstAt;
    },
  }),

  // confirm
  fault('a confirmation is lost', {
    confirm: async (_: string, version: number) => ({ kind: 'written', version }),
  }),
  fault('a confirmation of any version is stored', {
    async confirm(this: Backend, name: string, _: number, text: string) {
      const version = this.snapshots.get(this.keyOf(name))?.version ?? 0;
      return Backend.prototype.confirm.call(this, name, version, text);
    },
  }),
  fault('a confirmation makes the snapshot young', {
    async confirm(this: Backend, name: string, version: number, text: string) {
      const written = this.snapshots.get(this.keyOf(name));
      if (written !== undefined)
        this.snapshots.set(this.keyOf(name), { ...written, writtenAt: performance.now() });
      return Backend.prototype.confirm.call(this, name, version, text);
    },
  }),
  fault('a confirmation outlives its version', {
    async write(this: Backend, ...asked: Parameters<SnapshotStore['write']>) {
      const { confirmed } = this.snapshots.get(this.keyOf(asked[0])) ?? {};
      const answer = await Backend.prototype.write.call(this, ...asked);
      const written = this.snapshots.get(this.keyOf(asked[0]));
      if (written && confirmed) this.snapshots.set(this.keyOf(asked[0]), { ...written, confirmed });
      return answer;
    },
  }),
  outside('any confirmation is accepted', (store) => ({
    confirm: async (name, version, text) =>
      (await store.confirm?.(name, version, text.slice(0, 4000) || 'x')) as WriteAnswer,
  })),

  // delete
  fault('delete does nothing', {
    async delete(this: Backend, name: string) {
      return this.snapshots.has(this.keyOf(name));
    },
  }),
  fault('delete is always true', {
    async delete(this: Backend, name: string) {
      this.snapshots.delete(this.keyOf(name));
      return true;
    },
  }),
  fault('delete returns nothing', {
    async delete(this: Backend, name: string) {
      this.snapshots.delete(this.keyOf(name));
    },
  }),
  fault('delete removes all', {
    async delete(this: Backend, name: string) {
      const isThere = this.snapshots.has(this.keyOf(name));
      this.snapshots.clear();
      return isThere;
    },
  }),

  // names
  fault('names of any case are the same', { keyOf: (name: string) => name.toLowerCase() }),
  fault('trailing spaces are ignored', { keyOf: (name: string) => name.trimEnd() }),
  fault('names are normalized', { keyOf: (name: string) => name.normalize() }),
  fault('long names are cut', { keyOf: (name: string) => name.slice(0, 150) }),
  outside('longestName is too small', () => ({ longestName: 100 })),
  outside('an empty name is accepted', (store) => ({ delete: (name) => store.delete(name || 'empty') })),
  outside('any token is accepted', (store) => ({
    write: (name, payload, token) => store.write(name, payload, token && Math.floor(token) && 1),
  })),

  // several names
  readingMany('the snapshots are ordered by name', (read, reads) =>
    read(reads.toSorted((a, b) => (a.name < b.name ? -1 : 1))),
  ),
  readingMany('one newerThan for all names', (read, reads) =>
    read(reads.map(({ name }) => ({ name, newerThan: reads.at(-1)?.newerThan }))),
  ),
  readingMany('absent snapshots are left out', async (read, reads) =>
    (await read(reads)).filter((found) => found !== undefined),
  ),
  readingMany('a damaged snapshot fails all names', async (read, reads) => {
    const found = await read(reads);
    if (reads.length > 1 && found.some((one) => one?.damage !== undefined)) throw new Error('damaged');
    return found;
  }),
  readingMany('names after the hundredth are not read', (read, reads) => read(reads.slice(0, 100))),
  writingMany('one token for all names', (write, writes) =>
    write(writes.map((one) => ({ ...one, token: writes[0]?.token }))),
  ),
  writingMany('several writes ignore rejected versions', (write, writes) =>
    write(writes.map(({ rejected: _, ...one }) => one)),
  ),
  writingMany('several writes return the clock', async (write, writes) =>
    (await write(writes)).map((answer, i) =>
      writes[i]?.token === undefined ? { ...answer, version: Date.now() * 1000 } : answer,
    ),
  ),
  fault('one keepFor for all names', {
    writeMany(this: Backend, writes: readonly SnapshotWrite[]) {
      const keepFor = writes.find((one) => one.keepFor !== undefined)?.keepFor;
      const forget = () => writes.map(({ name }) => this.snapshots.delete(name));
      if (keepFor !== undefined) setTimeout(forget, keepFor);
      return Backend.prototype.writeMany.call(this, writes);
    },
  }),
  fault('the versions of several names are read, then written', {
    async writeMany(this: Backend, writes: readonly SnapshotWrite[]) {
      const stored = writes.map(({ name }) => this.snapshots.get(name)?.version ?? 0);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      return writes.map(({ name, payload, token }, i) => {
        const held = stored[i] as number;
        if (this.isRefused(token, held)) return { kind: 'refused', version: held };
        const version = this.versionOf(token, held);
        this.snapshots.set(name, { version, payload, writtenAt: performance.now() });
        return { kind: 'written', version };
      });
    },
  }),
  // checks
  checking('the versions are in the order of names', (check, names) => check(names.toSorted())),
  checking('names after the hundredth have no version', async (check, names) =>
    (await check(names)).map((version, i) => (i < 100 ? version : 0)),
  ),
  checking('the version of a snapshot with keepFor is not found', async (check, names) =>
    (await check(names)).map((version, i) => (names[i]?.endsWith('brief') ? 0 : version)),
  ),
  outside('any report is accepted', () => ({
    versions: async (names) => names.map(() => 0),
  })),
  {
    fault: 'an unreachable backend has no versions',
    parts: {},
    unreachable: { versions: async (names) => names.map(() => 0) },
  },
  fault('a report is kept for ever', {
    async reports(this: Backend, beginning: string) {
      const all = [...this.reported.values()].map((one) => ({ ...one, age: performance.now() - one.at }));
      return all.filter(({ instance }) => instance.startsWith(beginning));
    },
  }),
  reporting('the first report of an instance is kept', (first, { instance }) => first.has(instance)),
  fault('reports replace each other in any order', {
    leave(this: Backend, report: InstanceReport) {
      this.reported.set(report.instance, { ...report, at: performance.now() });
    },
  }),
  reporting('a report that is being written leaves out others', (reported) => reported.size >= 15),
  listing('the age of a report is always 0', (found) => found.map((one) => ({ ...one, age: 0 }))),
  listing('reports are trimmed', (found) => found.map((one) => ({ ...one, text: one.text.trim() }))),
  listing('an age since the first report', (found) => found.map((one) => ({ ...one, age: one.age + 1e6 }))),
  fault('namespaces share their reports', {
    async reports(this: Backend) {
      return Backend.prototype.reports.call(this, '');
    },
  }),
  fault('reports are snapshots', {
    async versions(this: Backend, names: readonly string[], report?: InstanceReport) {
      const name = report?.instance.slice(report.instance.indexOf('/') + 1) ?? '';
      if (report) this.snapshots.set(name, { version: 1, writtenAt: 0, payload: report.text });
      return Backend.prototype.versions.call(this, names, report);
    },
  }),

  // an unreachable backend
  {
    fault: 'an unreachable backend has no snapshots',
    parts: {},
    unreachable: { read: async () => undefined },
  },
  {
    fault: 'the error of the client passes through',
    parts: {},
    unreachable: { write: () => Promise.reject(new Error('ECONNREFUSED')) },
  },
  {
    fault: 'an unreachable backend throws',
    parts: {},
    unreachable: {
      delete: () => {
        throw new Error('closed');
      },
    },
  },
];
