import type { Clock } from '../time/clock.ts';
import { type Instant, isExpired, rowOf, type StoredRecord } from './edited.ts';
import { ExpiringMap } from './expiring-map.ts';
import type { Answer, Edit, ListedEdition, Records, Row } from './records.ts';
import { applied, editionsIn } from './whole-record.ts';

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
    const { next, answer } = applied(record, edit, now);
    if (next === undefined) this.#records.delete(name);
    else if (next !== record) this.#records.set(name, next, now.at);
    return answer;
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const now = this.#now();
    const rows: (readonly [string, Row])[] = [];
    for (const name of this.#records.names()) {
      const record = this.#records.get(name) as StoredRecord;
      if (name.startsWith(prefix) && !isExpired(record, now.at))
        rows.push([name, rowOf(record, now, String)]);
    }
    return { now: now.wall, rows: rows.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit) };
  }

  async editions(name: string, beginning: number): Promise<readonly ListedEdition[]> {
    return editionsIn(this.#records.get(name), this.#now(), beginning);
  }

  #now(): Instant {
    return { at: this.#clock.monotonic(), wall: this.#clock.now() };
  }
}
