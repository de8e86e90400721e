import { bytesOf } from '../cluster/history.ts';
import { implausibleSnapshot, isPlausibleToken } from '../cluster/plausible.ts';
import {
  BEGINNING_LENGTH,
  type InstanceReport,
  MOST_REPORTS,
  type StoredReport,
  type StoredSnapshot,
  type StoredVersion,
  type WriteAnswer,
} from '../cluster/store-contract.ts';
import { MemoryRecords } from '../memory/memory-records.ts';
import type { Clock } from '../time/clock.ts';
import type { StoreBackend } from './store-backend.ts';

interface Written {
  readonly version: number;
  readonly writtenAt: number;
  readonly payload: string;
  /** On the monotonic clock; `Infinity`: until it is deleted. */
  readonly keptUntil: number;
  /** Newest first. */
  readonly older: readonly Version[];
}

interface Reported extends Omit<StoredReport, 'age'>, Pick<Written, 'writtenAt' | 'keptUntil'> {}

type Version = Pick<Written, 'version' | 'writtenAt' | 'payload'>;

/** The steps of a store on snapshots in memory. */
export class MemoryStore implements StoreBackend {
  readonly takesReports: boolean = true;
  readonly #clock: Clock;
  readonly #keepVersions: number;
  readonly #reports: Map<string, Reported> = new Map();
  readonly #snapshots: MemoryRecords<Written> = new MemoryRecords(({ keptUntil }) => keptUntil);

  /** @param keepVersions as the caller gave it: `createStore` checks it. */
  constructor(clock: Clock, keepVersions: number = 1) {
    this.#clock = clock;
    this.#keepVersions = keepVersions;
  }

  async read(
    name: string,
    newerThan: number = -1,
    wanted?: number,
    report?: InstanceReport,
  ): Promise<StoredSnapshot | undefined> {
    if (report !== undefined) this.#report(report);
    const versions = this.#versions(name);
    const found = wanted === undefined ? versions[0] : versions.find(({ version }) => version === wanted);
    return found && found.version > newerThan ? this.#snapshot(found) : undefined;
  }

  async versions(names: readonly string[], report?: InstanceReport): Promise<number[]> {
    if (report !== undefined) this.#report(report);
    return names.map((name) => {
      const { version = 0 } = this.#snapshots.get(name) ?? {};
      return this.#isPlausible(version) ? version : 0;
    });
  }

  async reports(beginning: string): Promise<StoredReport[]> {
    const now = this.#clock.monotonic();
    return [...this.#reports.values()]
      .filter(({ keptUntil, instance }) => now < keptUntil && instance.startsWith(beginning))
      .map(({ instance, text, writtenAt }) => ({ instance, text, age: now - writtenAt }));
  }

  /** An instance beyond the most gets no report until others have expired. */
  #report({ instance, text, keepFor }: InstanceReport): void {
    const writtenAt = this.#clock.monotonic();
    for (const { instance, keptUntil } of this.#reports.values()) {
      if (keptUntil <= writtenAt) this.#reports.delete(instance);
    }
    if (this.#reports.size >= MOST_REPORTS && !this.#reports.has(instance)) return;
    this.#reports.set(instance, { instance, text, writtenAt, keptUntil: writtenAt + keepFor });
  }

  async history(name: string): Promise<StoredVersion[]> {
    return this.#versions(name).map((one) => {
      const { payload, ...snapshot } = this.#snapshot(one);
      const beginning = payload.slice(0, BEGINNING_LENGTH);
      return { ...snapshot, beginning, bytes: bytesOf(one.payload) };
    });
  }

  /** Newest first. */
  #versions(name: string): readonly Version[] {
    const written = this.#snapshots.get(name);
    return written === undefined ? [] : [written, ...written.older];
  }

  #snapshot({ version, payload, writtenAt }: Version): StoredSnapshot {
    if (!this.#isPlausible(version)) return implausibleSnapshot(version);
    return { version, payload, age: this.#clock.monotonic() - writtenAt };
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor: number = Infinity,
    report?: InstanceReport,
  ): Promise<WriteAnswer> {
    if (report !== undefined) this.#report(report);
    const before = this.#snapshots.get(name);
    const present = before?.version ?? 0;
    const held = this.#isPlausible(present) ? present : 0;
    if (token !== undefined && token < held && held !== rejected) return { kind: 'refused', version: held };
    if (token === held && payload === before?.payload) return { kind: 'written', version: held }; // repeated
    const version = token ?? Math.max(held + 1, Math.floor(this.#clock.now() * 1000));
    const writtenAt = this.#clock.monotonic();
    const older = keepFor === Infinity ? this.#older(before, version) : [];
    const written = { version, payload, writtenAt, keptUntil: writtenAt + keepFor, older };
    this.#snapshots.set(name, written, writtenAt);
    return { kind: 'written', version };
  }

  #older(before: Written | undefined, version: number): readonly Version[] {
    if (before === undefined || this.#keepVersions === 1) return [];
    const { older, keptUntil, ...present } = before;
    const all = keptUntil === Infinity ? [present, ...older] : older;
    return all.filter((one) => one.version < version).slice(0, this.#keepVersions - 1);
  }

  async delete(name: string): Promise<boolean> {
    return this.#snapshots.delete(name);
  }

  #isPlausible(version: number): boolean {
    return isPlausibleToken(version, this.#clock.now());
  }
}
