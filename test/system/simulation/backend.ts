import { memoryBackend } from '../../../src/backends/memory.ts';
import type { AcquireRequest, LeaseId, ReleaseOutcome } from '../../../src/cluster/lock-contract.ts';
import type {
  InstanceReport,
  Store,
  StoredReport,
  StoredSnapshot,
  StoredVersion,
  WriteAnswer,
} from '../../../src/cluster/store-contract.ts';
import type { Fleet } from '../../../src/index.ts';
import { edited, type Instant, rowOf, type StoredRecord } from '../../../src/records/edited.ts';
import { claimOf, endOf, extensionOf, lockRow } from '../../../src/records/lock/record-lock.ts';
import { LOCK } from '../../../src/records/names.ts';
import type { Amend, Claim } from '../../../src/records/records.ts';
import { storeOf } from '../../support/parts.ts';
import type { Ending, LockRow } from '../../support/records-of-steps.ts';
import type { LeaseBook } from './lease-book.ts';
import type { Machine } from './machine.ts';
import type { VersionBook } from './version-book.ts';

/** The backend that all instances share: lock records and snapshots. Each method is one atomic step. */
export class Backend {
  isUp: boolean = true;
  /** How often its data were lost or damaged. */
  spoiled: number = 0;
  /** How often it came back empty. */
  losses = 0;
  readonly #machine: Machine;
  readonly #leases: LeaseBook;
  readonly #versions: VersionBook;
  readonly #records: Map<string, StoredRecord> = new Map();
  readonly #keepVersions: number;
  /** When it came back empty, by its wall clock: its clock has moved on since it was gone. */
  #backAt = 0;
  #snapshots: Store;
  /** The damaged versions of each name, until they are written again. */
  readonly #damaged: Map<string, Set<number>> = new Map();
  /** The versions of each name. */
  readonly #written: Map<string, Set<number>> = new Map();

  constructor(machine: Machine, leases: LeaseBook, versions: VersionBook, keepVersions: number) {
    this.#machine = machine;
    this.#leases = leases;
    this.#versions = versions;
    this.#keepVersions = keepVersions;
    this.#snapshots = this.#empty();
  }

  acquire(request: AcquireRequest): LockRow {
    const now = { ...this.#now, wall: Math.max(this.#backAt, this.#machine.now()) };
    this.#change(request.name, claimOf(LOCK, request), now);
    const record = this.#records.get(request.name) as StoredRecord;
    const row = lockRow(
      request.name,
      rowOf(record, now, (text) => text),
      now.wall,
    );
    this.#leases.acquired(request, row, now.at);
    return row;
  }

  extend(lease: LeaseId, leaseFor: number): boolean {
    const now = this.#now;
    const isDone = this.#change(lease.name, extensionOf(LOCK, lease, leaseFor), now);
    this.#leases.extended(lease, leaseFor, isDone, now.at);
    return isDone;
  }

  release(lease: LeaseId, ending: Ending): boolean {
    const now = this.#now;
    const isDone = this.#change(
      lease.name,
      endOf(LOCK, lease, { ...ending, as: ending.state } as ReleaseOutcome),
      now,
    );
    this.#leases.released(lease, ending, isDone, now.at);
    return isDone;
  }

  async read(
    name: string,
    newerThan?: number,
    version?: number,
    report?: InstanceReport,
  ): Promise<StoredSnapshot | undefined> {
    const left = report && this.#snapshots.versions([], report);
    const snapshot = await this.#snapshots.read(name, newerThan, version);
    await left;
    const isDamaged = snapshot && this.#damaged.get(name)?.has(snapshot.version);
    return isDamaged ? { ...snapshot, payload: '{' } : snapshot;
  }

  async history(name: string): Promise<StoredVersion[]> {
    const records = await this.#snapshots.history(name);
    const versions = records.map(async ({ version, age, bytes }) => {
      const { payload: beginning = '' } = (await this.read(name, undefined, version)) ?? {};
      return { version, age, bytes, beginning };
    });
    return Promise.all(versions);
  }

  async versionsOf(names: readonly string[], report?: InstanceReport): Promise<number[]> {
    return [...(await this.#snapshots.versions(names, report))];
  }

  async reports(beginning: string): Promise<readonly StoredReport[]> {
    const reports = await this.#snapshots.reports();
    return reports.filter(({ instance }) => instance.startsWith(beginning));
  }

  /** The reports of instances that it has. */
  async fleet(): Promise<Fleet> {
    return this.#snapshots.fleet();
  }

  async write(
    name: string,
    payload: string,
    token: number | undefined,
    report?: InstanceReport,
  ): Promise<WriteAnswer> {
    const left = report && this.#snapshots.versions([], report);
    const answer = await this.#snapshots.write(name, payload, token);
    await left;
    this.#versions.written(name, token, answer);
    if (answer.kind === 'written') {
      this.#damaged.get(name)?.delete(answer.version);
      this.#written.set(name, (this.#written.get(name) ?? new Set()).add(answer.version));
    }
    return answer;
  }

  async confirm(name: string, version: number, text: string, report?: InstanceReport): Promise<WriteAnswer> {
    const left = report && this.#snapshots.versions([], report);
    const answer = await this.#snapshots.confirm?.(name, version, text);
    await left;
    return answer as WriteAnswer;
  }

  /** Damages all snapshots. */
  damageAll(): void {
    this.spoiled += 1;
    for (const [name, versions] of this.#written) this.#damaged.set(name, new Set(versions));
  }

  /** Loses all its data, as after a restart. */
  loseAll(): void {
    this.spoiled += 1;
    this.losses += 1;
    this.#backAt = this.#machine.now() + 1;
    this.#records.clear();
    this.#snapshots = this.#empty();
    this.#leases.forgotten();
    this.#versions.forgotten();
  }

  #empty(): Store {
    return storeOf(memoryBackend({ clock: this.#machine, keepVersions: this.#keepVersions }));
  }

  #change(name: string, edit: Claim | Amend, now: Instant): boolean {
    const { next, isDone } = edited(this.#records.get(name), edit, now);
    if (next !== undefined) this.#records.set(name, next);
    return isDone;
  }

  get #now(): Instant {
    return { at: this.#machine.monotonic(), wall: this.#machine.now() };
  }
}
