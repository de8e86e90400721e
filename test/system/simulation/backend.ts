import type {
  AcquireRequest,
  LeaseId,
  SnapshotStore,
  StoredSnapshot,
  WriteAnswer,
} from '../../../src/index.ts';
import {
  acquireRecord,
  type Ending,
  type EngineRecord,
  extendRecord,
  type Instant,
  type LockRow,
  releaseRecord,
  rowOfRecord,
} from '../../../src/lock/index.ts';
import { memoryStore } from '../../../src/store/memory.ts';
import type { LeaseBook } from './lease-book.ts';
import type { Machine } from './machine.ts';
import type { VersionBook } from './version-book.ts';

/** The backend that all instances share: lock records and snapshots. Each method is one atomic step. */
export class Backend {
  isUp: boolean = true;
  readonly #machine: Machine;
  readonly #leases: LeaseBook;
  readonly #versions: VersionBook;
  readonly #records: Map<string, EngineRecord> = new Map();
  #snapshots: SnapshotStore;
  /** The names with damaged snapshots, until the next write. */
  readonly #damaged: Set<string> = new Set();
  readonly #written: Set<string> = new Set();

  constructor(machine: Machine, leases: LeaseBook, versions: VersionBook) {
    this.#machine = machine;
    this.#leases = leases;
    this.#versions = versions;
    this.#snapshots = memoryStore({ clock: machine });
  }

  acquire(request: AcquireRequest): LockRow {
    const now = this.#now;
    const record = acquireRecord(this.#records.get(request.name), request, now);
    this.#records.set(request.name, record);
    const row = rowOfRecord(request.name, record, now);
    this.#leases.acquired(request, row, now.at);
    return row;
  }

  extend(lease: LeaseId, leaseFor: number): boolean {
    const { at } = this.#now;
    const isDone = this.#put(lease.name, extendRecord(this.#records.get(lease.name), lease, leaseFor, at));
    this.#leases.extended(lease, leaseFor, isDone, at);
    return isDone;
  }

  release(lease: LeaseId, ending: Ending): boolean {
    const { at } = this.#now;
    const isDone = this.#put(lease.name, releaseRecord(this.#records.get(lease.name), lease, ending, at));
    this.#leases.released(lease, ending, isDone, at);
    return isDone;
  }

  async read(name: string, newerThan: number | undefined): Promise<StoredSnapshot | undefined> {
    const snapshot = await this.#snapshots.read(name, newerThan);
    return snapshot && this.#damaged.has(name) ? { ...snapshot, payload: '{' } : snapshot;
  }

  async write(name: string, payload: string, token: number | undefined): Promise<WriteAnswer> {
    const answer = await this.#snapshots.write(name, payload, token);
    this.#versions.written(name, token, answer);
    if (answer.kind === 'written') {
      this.#damaged.delete(name);
      this.#written.add(name);
    }
    return answer;
  }

  /** Damages all snapshots. */
  damageAll(): void {
    for (const name of this.#written) this.#damaged.add(name);
  }

  /** Loses all its data, as after a restart. */
  loseAll(): void {
    this.#records.clear();
    this.#snapshots = memoryStore({ clock: this.#machine });
    this.#leases.forgotten();
    this.#versions.forgotten();
  }

  #put(name: string, record: EngineRecord | undefined): boolean {
    if (record !== undefined) this.#records.set(name, record);
    return record !== undefined;
  }

  get #now(): Instant {
    return { at: this.#machine.monotonic(), wall: this.#machine.now() };
  }
}
