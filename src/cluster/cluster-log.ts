import type { Entry } from '../engine/entry.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { showKey, showName } from '../errors.ts';
import { OutageLog } from '../observe/outage-log.ts';
import type { BackendAccess } from './backend-access.ts';

/** The log lines of one member about its lock and its store. */
export class ClusterLog {
  readonly #options: ResolvedOptions;
  /** Under the names of the backends, with the outages that all members share which use them. */
  readonly #lock: OutageLog | undefined;
  readonly #store: OutageLog | undefined;
  /** Those of single entries, from the first failure on. */
  #leases: OutageLog | undefined;
  #records: OutageLog | undefined;
  #writes: OutageLog | undefined;
  #snapshots: OutageLog | undefined;

  constructor(
    options: ResolvedOptions,
    lock: BackendAccess<unknown> | undefined,
    store: BackendAccess<unknown> | undefined,
  ) {
    this.#options = options;
    this.#lock = lock && this.#ofBackend(lock);
    this.#store = store && this.#ofBackend(store);
  }

  /** @param isOutage the backend does not answer; else only this lease can't be had. */
  lockFailed(entry: Entry<unknown>, cause: unknown, isOutage: boolean): void {
    const next = this.#options.whenBackendDown === 'load' ? 'loading without it' : 'executions are skipped';
    const text = `lock unavailable, ${next}`;
    if (isOutage) this.#backendFailed(this.#lock, 'lock', text, cause);
    else {
      this.#leases ??= this.#log('lock usable again');
      this.#failed(this.#leases, entry, text, cause);
    }
  }

  lockAnswered({ id }: Entry<unknown>): void {
    this.#lock?.succeeded('lock');
    this.#leases?.succeeded(id);
    this.#records?.succeeded(id);
  }

  /** The record is replaced already. */
  recordDamaged(entry: Entry<unknown>, damage: string): void {
    this.#records ??= this.#log();
    this.#failed(this.#records, entry, 'lock record damaged, it is replaced', damage);
  }

  storeFailed(cause: unknown): void {
    this.#backendFailed(this.#store, 'store', 'store unavailable, loads are not shared', cause);
  }

  storeAnswered(): void {
    this.#store?.succeeded('store');
  }

  /** The store has refused the snapshot: it may be down, or the snapshot at fault. */
  writeFailed(entry: Entry<unknown>, cause: unknown): void {
    const part = this.#snapshotOf(entry);
    const retryAt = this.#options.clock.monotonic();
    this.#store?.failed({ part, retryAt, text: () => `${part} can't be written`, cause });
  }

  /** The snapshot can't be made. */
  encodeFailed(entry: Entry<unknown>, cause: unknown): void {
    this.#writes ??= this.#log('snapshot written again');
    this.#failed(this.#writes, entry, "the snapshot can't be written", cause);
  }

  written(entry: Entry<unknown>): void {
    const { id } = entry;
    this.#store?.succeeded(this.#snapshotOf(entry));
    this.#writes?.succeeded(id);
    this.#snapshots?.succeeded(id);
  }

  #snapshotOf({ key }: Entry<unknown>): string {
    const { name } = this.#options;
    return `the snapshot of ${key === undefined ? showName(name) : `${showName(name)}[${showKey(key)}]`}`;
  }

  unreadable(entry: Entry<unknown>, cause: unknown): void {
    this.#snapshotFailed(entry, "the snapshot can't be read", cause);
  }

  rejected(entry: Entry<unknown>, version: number, cause: Error): void {
    this.#snapshotFailed(entry, `snapshot of version ${version} rejected`, cause);
  }

  #snapshotFailed(entry: Entry<unknown>, text: string, cause: unknown): void {
    this.#snapshots ??= this.#log();
    this.#failed(this.#snapshots, entry, text, cause);
  }

  #log(recovered?: string): OutageLog {
    const { logger, clock } = this.#options;
    return new OutageLog(logger, clock, { recovered });
  }

  #ofBackend({ name, outage }: BackendAccess<unknown>): OutageLog {
    const { logger, clock } = this.#options;
    return new OutageLog(logger.as(name), clock, { recovered: 'available again' }, outage);
  }

  #backendFailed(log: OutageLog | undefined, part: 'lock' | 'store', text: string, cause: unknown): void {
    log?.failed({ part, retryAt: Infinity, text: () => text, cause });
  }

  #failed(log: OutageLog, { id, key }: Entry<unknown>, text: string, cause: unknown): void {
    const of = (others: string): string => (key === undefined ? text : `${showKey(key)}${others}: ${text}`);
    log.failed({ id, retryAt: this.#options.clock.monotonic(), text: of, cause });
  }
}
