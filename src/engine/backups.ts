import { type Backup, backupOf } from '../data/backup.ts';
import { showKey } from '../errors.ts';
import { OutageLog } from '../observe/outage-log.ts';
import { isInstant, showInstant } from '../time/show-instant.ts';
import type { Entry } from './entry.ts';
import type { LastExecution } from './next-execution.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** Beyond this many, further keys are not remembered, nor logged. */
const MOST_KEYS = 10_000;

/** A value in place that a backup has made. */
export interface BackedUp extends Backup {
  readonly id: unknown;
  readonly key: unknown;
  readonly last: LastExecution;
}

/**
 * The entries of a member whose values in place were made by a backup, on any instance: it reads the notes of the value. One line
 * when the first begins, at most one a minute while there is any, one when it is over.
 */
export class Backups {
  readonly #options: Pick<ResolvedOptions, 'logger' | 'clock'>;
  readonly #entries: Map<unknown, BackedUp> = new Map();
  #log: OutageLog | undefined;

  constructor(options: Pick<ResolvedOptions, 'logger' | 'clock'>) {
    this.#options = options;
  }

  /** The value of an entry may have been replaced. */
  placed({ id, key, isLoaded, last, dueAt: retryAt }: Entry<unknown>): void {
    if (last?.meta === undefined && this.#entries.size === 0) return;
    const backup = isLoaded ? backupOf(last?.meta) : undefined;
    if (last === undefined || backup === undefined) {
      if (this.#entries.delete(id)) this.#log?.succeeded(id);
      return;
    }
    const isKnown = this.#entries.get(id)?.last === last; // a load has failed since
    if (isKnown || (this.#entries.size >= MOST_KEYS && !this.#entries.has(id))) return;
    this.#entries.set(id, { ...backup, id, key, last });
    const { logger, clock } = this.#options;
    this.#log ??= new OutageLog(logger, clock, {
      recovered: 'no longer served by a backup,',
      still: 'still,',
    });
    const text = (others: string): string => {
      const which = key === undefined ? '' : ` ${showKey(key)}${others}`;
      return `served by a backup${which}${sinceText(backup)}, ${backup.text}`;
    };
    this.#log.failed({ id, retryAt, text, cause: undefined });
  }

  /** @param isHeld the cache has a value of that key: it may have been evicted. */
  all(isHeld: (id: unknown) => boolean): readonly BackedUp[] {
    for (const id of this.#entries.keys()) if (!isHeld(id)) this.#entries.delete(id);
    return [...this.#entries.values()];
  }
}

/** ` since 2026-11-28T23:00:00.000Z`; empty: not known. */
export function sinceText({ since }: Backup): string {
  return since === undefined || !isInstant(since) ? '' : ` since ${showInstant(since)}`;
}
