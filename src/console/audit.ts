import { printable } from '../printable.ts';
import type { AuditRecord } from './audit-record.ts';
import { Journal, type JournalBackend } from './journal.ts';
import { shownJson } from './redact.ts';

/** How many records are kept of actions that were tried; and of refused ones, which must not evict these. */
const MOST_RECORDS = 200;
const MOST_REFUSED = 50;

/** The name of the audit at the lock and the store. */
const NAME = 'tickless-console-audit';

/** The last actions of operators: of this instance, and with a backend of all that share it. */
export class Audit {
  readonly #journal: Journal | undefined;
  readonly #onAudit: ((record: AuditRecord) => void) | undefined;
  /** Newest first: all of this instance without a backend, else those that could not be written there. */
  #own: readonly AuditRecord[] = [];

  constructor(backend: JournalBackend | undefined, onAudit: ((record: AuditRecord) => void) | undefined) {
    this.#journal = backend && new Journal(backend, NAME);
    this.#onAudit = onAudit;
  }

  /** @returns why it is not in the backend; `undefined`: it is, or there is none. Never rejects. */
  async add(given: AuditRecord): Promise<string | undefined> {
    // No credentials in the backend either, and in no log a line that an operator has made up.
    const record = JSON.parse(shownJson(given, new Set([given.name])), oneLine) as AuditRecord;
    try {
      this.#onAudit?.(record);
    } catch {} // user code
    try {
      if (this.#journal === undefined) this.#keep(record);
      else await this.#journal.change((list) => kept([record, ...list.filter(isRecord)]));
      return undefined;
    } catch (error) {
      this.#keep(record);
      return `the audit record is of this instance only: ${(error as Error).message}`;
    }
  }

  #keep(record: AuditRecord): void {
    this.#own = kept([record, ...this.#own]);
  }

  /** Newest first. Where the backend does not answer, those of this instance with the reason. */
  async list(): Promise<{ readonly records: readonly AuditRecord[]; readonly problem?: string }> {
    if (this.#journal === undefined) return { records: this.#own };
    try {
      const shared = (await this.#journal.read()).filter(isRecord);
      const all = [...this.#own, ...shared].sort((a, b) => b.at - a.at);
      return { records: kept(all) };
    } catch (error) {
      return { records: this.#own, problem: (error as Error).message };
    }
  }
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
