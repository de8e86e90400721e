import type { SharedOptions } from '../index.ts';
import { printable } from '../printable.ts';
import { ignoreThenable } from '../time/deferred.ts';
import type { AuditRecord } from './audit-record.ts';
import type { ResolvedConsoleOptions } from './console-options.ts';
import { BUSY, Journal, type JournalBackend, type JournalLease, journalPause, TRIES } from './journal.ts';
import { type Redact, shownJson } from './redact.ts';

/** How many records are kept of actions that were tried; and of refused ones, which must not evict these. */
const MOST_RECORDS = 200;
const MOST_REFUSED = 50;

/** The name of the audit at the lock and the store. */
const NAME = 'tickless-console-audit';

/** A write that has not ended after this time was dropped by the platform with the request that began it. In milliseconds. */
const LONGEST_WRITE_MS = 30_000;

/** A record in the list of the audit. */
export interface ListedRecord extends AuditRecord {
  /** It is on this instance only, until it can be written. */
  readonly unwritten?: true;
}

/**
 * The last actions of operators: of this instance, and with a backend of all that share it. They are written there behind the
 * actions, several at a time; those that can't be written now are kept here, and tried again with the next one, while a page is
 * open, and at the end.
 */
export class Audit {
  readonly #journal: Journal | undefined;
  readonly #onAudit: ((record: AuditRecord) => void) | undefined;
  readonly #waitUntil: SharedOptions['waitUntil'];
  readonly #redact: Redact;
  /** Newest first: all of this instance without a backend, else those that are not known to be there. */
  #own: readonly AuditRecord[] = [];
  /** Of these those that may be there: they are being written, or that has failed. */
  #unsure: ReadonlySet<AuditRecord> = new Set();
  /** Why the last attempt has failed. */
  #problem: string | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** By the monotonic clock; 0: nothing is being written. */
  #writingUntil = 0;
  #isClosed = false;

  constructor(
    backend: JournalBackend | undefined,
    { onAudit, waitUntil, redact }: Pick<ResolvedConsoleOptions, 'onAudit' | 'waitUntil' | 'redact'>,
  ) {
    this.#journal = backend && new Journal(backend, NAME);
    this.#onAudit = onAudit;
    this.#waitUntil = waitUntil;
    this.#redact = redact;
  }

  /**
   * Takes one command at most: it asks whether the record can be written now.
   *
   * @returns why it is not; `undefined`: it is being written, or there is no backend. Never rejects.
   */
  async add(given: AuditRecord): Promise<string | undefined> {
    // No credentials in the backend either, and in no log a line that an operator has made up.
    const record = JSON.parse(shownJson(given, this.#redact, new Set([given.name])), oneLine) as AuditRecord;
    const onAudit = this.#onAudit;
    try {
      ignoreThenable(onAudit?.(record));
    } catch {} // user code
    this.#own = kept([record, ...this.#own]);
    await this.flush();
    const isKept = this.#problem !== undefined && this.#own.includes(record);
    return isKept
      ? `the audit record is of this instance only until it can be written: ${this.#problem}`
      : undefined;
  }

  /** Newest first. Where the backend does not answer, those of this instance with the reason. */
  async list(): Promise<{ readonly records: readonly ListedRecord[]; readonly problem?: string }> {
    if (this.#journal === undefined) return { records: this.#own };
    void this.flush();
    try {
      const shared = (await this.#journal.read()).filter(isRecord);
      return { records: merged(this.#unwritten(shared).map(marked), shared) };
    } catch (error) {
      return { records: this.#own.map(marked), problem: (error as Error).message };
    }
  }

  /** Begins to write what is kept here. Resolves after the first command; at once where it is being written already. */
  async flush(): Promise<void> {
    const [journal, now] = [this.#journal, performance.now()];
    if (journal === undefined || this.#own.length === 0 || now < this.#writingUntil) return;
    this.#writingUntil = now + LONGEST_WRITE_MS;
    const first = journal.ask();
    this.#writing = this.#write(journal, first);
    try {
      ignoreThenable(this.#waitUntil?.(this.#writing));
    } catch {} // user code
    await first.catch(() => {});
  }

  /** Tries once more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    await this.#writing;
  }

  /** Never rejects. @param first the first answer to its question for the lease. */
  async #write(journal: Journal, first: Promise<JournalLease | number>): Promise<void> {
    try {
      let lease = await first;
      for (let tries = 1; this.#own.length > 0; tries++) {
        if (typeof lease === 'number') {
          this.#problem = BUSY;
          if (tries >= TRIES || this.#isClosed) break;
          await journalPause(lease);
        } else await this.#writeAll(journal, lease);
        if (this.#own.length > 0) lease = await journal.ask();
      }
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
    this.#writingUntil = 0;
  }

  async #writeAll(journal: Journal, lease: JournalLease): Promise<void> {
    this.#problem = undefined;
    await journal.write(lease, (list) => {
      const shared = list.filter(isRecord);
      const all = merged(this.#unwritten(shared), shared);
      this.#unsure = new Set(this.#own);
      return all;
    });
    this.#own = this.#own.filter((record) => !this.#unsure.has(record));
    this.#unsure = new Set();
  }

  /** Those of this instance that are not in the backend. */
  #unwritten(shared: readonly AuditRecord[]): readonly AuditRecord[] {
    if (this.#unsure.size === 0) return this.#own;
    const texts = new Set(shared.map((record) => JSON.stringify(record)));
    return this.#own.filter((record) => !this.#unsure.has(record) || !texts.has(JSON.stringify(record)));
  }
}

function marked(record: AuditRecord): ListedRecord {
  return { ...record, unwritten: true };
}

function merged(own: readonly AuditRecord[], shared: readonly AuditRecord[]): readonly AuditRecord[] {
  return kept([...own, ...shared].sort((a, b) => b.at - a.at));
}

/** Newest first. */
function kept(records: readonly AuditRecord[]): readonly AuditRecord[] {
  let [tried, refused] = [0, 0];
  return records.filter(({ result }) =>
    result === 'refused' ? ++refused <= MOST_REFUSED : ++tried <= MOST_RECORDS,
  );
}

function oneLine(_: string, field: unknown): unknown {
  return typeof field === 'string' ? printable(field) : field;
}

/** It comes from outside. */
function isRecord(given: unknown): given is AuditRecord {
  const record = given as AuditRecord | null;
  const texts = [record?.by, record?.action, record?.name, record?.message, record?.host, record?.result];
  return typeof record?.at === 'number' && texts.every((text) => typeof text === 'string');
}
