import type { Entry } from '../engine/entry.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { showKey } from '../errors.ts';
import type { Outage } from '../observe/outage.ts';
import { OutageLog } from '../observe/outage-log.ts';

/** The log lines of one member about its lock and its store. */
export class ClusterLog {
  readonly #options: ResolvedOptions;
  readonly #lock: OutageLog;
  readonly #store: OutageLog;
  /** Those of single entries, from the first failure on. */
  #leases: OutageLog | undefined;
  #records: OutageLog | undefined;
  #writes: OutageLog | undefined;
  #snapshots: OutageLog | undefined;

  /** @param outages those of the backends, which all members of a lock or store object share. */
  constructor(options: ResolvedOptions, outages: { readonly lock?: Outage; readonly store?: Outage }) {
    this.#options = options;
    this.#lock = this.#log('lock available again', outages.lock);
    this.#store = this.#log('store available again', outages.store);
  }

  /** @param isOutage the backend does not answer; else only this lease can't be had. */
  lockFailed(entry: Entry<unknown>, cause: unknown, isOutage: boolean): void {
    const next =
      this.#options.whenLockUnavailable === 'load' ? 'loading without it' : 'executions are skipped';
    const text = `lock unavailable, ${next}`;
    if (isOutage) this.#failed(this.#lock, undefined, text, cause);
    else {
      this.#leases ??= this.#log('lock usable again');
      this.#failed(this.#leases, entry, text, cause);
    }
  }

  lockAnswered({ id }: Entry<unknown>): void {
    this.#lock.succeeded();
    this.#leases?.succeeded(id);
    this.#records?.succeeded(id);
  }

  /** The record is replaced already. */
  recordDamaged(entry: Entry<unknown>, damage: string): void {
    this.#records ??= this.#log();
    this.#failed(this.#records, entry, 'lock record damaged, it is replaced', damage);
  }

  /** @param isKnown it is logged already: the snapshot could not be written. */
  storeFailed(cause: unknown, isKnown: boolean = false): void {
    this.#failed(this.#store, undefined, 'store unavailable', cause, isKnown);
  }

  storeAnswered(): void {
    this.#store.succeeded();
  }

  /** @param isKnown it is logged already: the store is unavailable. */
  writeFailed(entry: Entry<unknown>, cause: unknown, isKnown: boolean): void {
    this.#writes ??= this.#log('snapshot written again');
    this.#failed(this.#writes, entry, "the snapshot can't be written", cause, isKnown);
  }

  written({ id }: Entry<unknown>): void {
    this.#writes?.succeeded(id);
    this.#snapshots?.succeeded(id);
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

  #log(recovered?: string, outage?: Outage): OutageLog {
    const { logger, clock } = this.#options;
    return new OutageLog(logger, clock, { recovered }, outage);
  }

  #failed(
    log: OutageLog,
    entry: Entry<unknown> | undefined,
    text: string,
    cause: unknown,
    reachedCaller: boolean = false,
  ): void {
    const { id, key } = entry ?? {};
    const of = (others: string): string => (key === undefined ? text : `${showKey(key)}${others}: ${text}`);
    log.failed({ id, retryAt: this.#options.clock.monotonic(), reachedCaller, text: of, cause });
  }
}
