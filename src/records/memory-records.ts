import { bytesOf } from '../cluster/history.ts';
import type { Clock } from '../time/clock.ts';
import { edited, foundBy, type Instant, isExpired, rowOf, type StoredRecord } from './edited.ts';
import { ExpiringMap } from './expiring-map.ts';
import type { Answer, Edit, ListedEdition, Records, Row } from './records.ts';

/** Records in the memory of this process. */
export class MemoryRecords implements Records {
  readonly mostEdits: number = 1;
  readonly sharesCommands: boolean = true;
  readonly #clock: Clock;
  readonly #records: ExpiringMap<StoredRecord> = new ExpiringMap(
    ({ until, changedAt, keepMs = Infinity }) => Math.max(until, changedAt) + keepMs,
  );

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const now = this.#now();
    return { now: now.wall, answers: edits.map((edit) => this.#answer(edit, now)) };
  }

  #answer(edit: Edit, now: Instant): Answer {
    const { name } = edit;
    const record = this.#records.get(name);
    if (edit.op === 'read') {
      const found = foundBy(record, edit);
      const row = found && rowOf(found, now, edit.isBrief === true ? blank : whole);
      return { isDone: row !== undefined, row };
    }
    const { next, isDone } = edited(record, edit, now);
    if (next === undefined) this.#records.delete(name);
    else if (next !== record) this.#records.set(name, next, now.at);
    return { isDone, row: next && rowOf(next, now, edit.op === 'claim' ? whole : blank) };
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const now = this.#now();
    const rows: (readonly [string, Row])[] = [];
    for (const name of this.#records.names()) {
      const record = this.#records.get(name) as StoredRecord;
      if (name.startsWith(prefix) && !isExpired(record, now.at)) rows.push([name, rowOf(record, now, whole)]);
    }
    return { now: now.wall, rows: rows.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit) };
  }

  async editions(name: string, beginning: number): Promise<ListedEdition[]> {
    const now = this.#now();
    const record = this.#records.get(name);
    if (record === undefined) return [];
    return [record, ...record.older].map((edition) => ({
      row: rowOf({ ...record, ...edition, changedAt: edition.at }, now, (text) => text.slice(0, beginning)),
      bytes: bytesOf(edition.text),
    }));
  }

  #now(): Instant {
    return { at: this.#clock.monotonic(), wall: this.#clock.now() };
  }
}

function whole(text: string): string {
  return text;
}

function blank(): string {
  return '';
}
