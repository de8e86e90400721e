import { edited, foundBy, type Instant, rowOf, type StoredRecord } from '../records/edited.ts';
import { LOCK, REPORT, SNAPSHOT } from '../records/names.ts';
import type { Answer, Edit, Records, Row } from '../records/records.ts';
import { ensure, same, sameList } from './assert.ts';
import { type ConformanceCase, namesFrom, uniqueName } from './conformance.ts';

/** The records that {@link recordsConformance} tests. */
export interface RecordsSubject {
  /** Records at the backend. */
  readonly records: () => Records;
  /** The same over another client. @default `records` */
  readonly other?: (() => Records) | undefined;
}

/**
 * Test cases for {@link Records}: random edits of two clients in turn, compared with `edited`, the pure function that defines
 * them. Each run takes other edits; an error names all of them. They use their own names, and delete these.
 *
 * @returns independent cases: they may run in any order, and concurrently.
 */
export function recordsConformance({ records, other = records }: RecordsSubject): readonly ConformanceCase[] {
  const walks = Array.from({ length: WALKS }, (_, i) => ({
    name: `records: random edits of two clients are those of the definition, ${i + 1}`,
    run: () => new Walk([records(), other()]).run(),
  }));
  const name = 'records: an edition that was noted is kept as any, and has no note once it is an earlier one';
  return [...walks, { name, run: () => keepsNoted(records()) }];
}

/** Random edits come to that too seldom. */
async function keepsNoted(records: Records): Promise<void> {
  const name = SNAPSHOT + uniqueName('noted');
  const put = { op: 'put', name, older: OLDER } as const;
  const note = async (token: number, text: string): Promise<void> => {
    await records.apply([{ op: 'amend', name, token, phase: 'held', note: text, forMs: 0 }]);
  };
  try {
    await records.apply([{ ...put, token: 1, text: 'first', keepMs: LONG_MS }]);
    await note(1, 'of the first');
    await records.apply([{ ...put, token: 2, text: 'second' }]);
    await note(2, 'of the second');
    const { answers } = await records.apply([{ op: 'read', name, token: 1 }]);
    const [first] = answers;
    if (first instanceof Error) throw first;
    same(first?.row?.text, 'first', 'the text of the earlier edition');
    same(first?.row?.note, '', 'its note');
  } finally {
    await records.apply([{ op: 'delete', name }]);
  }
}

const WALKS = 8;
const STEPS = 40;

/** Leases and holds that do not end within a walk. */
const LONG_MS = 3_600_000;

/** Instants are those of the backend's clock to this, in milliseconds. */
const TOLERANCE_MS = 10_000;

/** Earlier editions that are kept. */
const OLDER = 2;

/** One run of random edits. */
class Walk {
  readonly #clients: readonly [Records, Records];
  readonly #locks: readonly string[] = namesFrom(LOCK + uniqueName('claimed'), ['a', 'b']);
  readonly #snapshots: readonly string[] = [
    ...namesFrom(SNAPSHOT + uniqueName('put'), ['a', 'b']),
    `${REPORT}${uniqueName('put')}`,
  ];
  readonly #expected: Map<string, StoredRecord> = new Map();
  readonly #steps: string[] = [];

  constructor(clients: readonly [Records, Records]) {
    this.#clients = clients;
  }

  async run(): Promise<void> {
    try {
      for (let step = 0; step < STEPS; step += 1) await this.#step(pick(this.#clients));
      for (const name of this.#snapshots) await this.#compareEditions(name);
      await this.#compareList();
    } finally {
      const all = [...this.#locks, ...this.#snapshots];
      await this.#clients[0].apply(all.map((name) => ({ op: 'delete', name })));
    }
  }

  /** One edit, or several of different names. */
  async #step(client: Records): Promise<void> {
    const names = [...this.#locks, ...this.#snapshots].filter(() => Math.random() < 0.3);
    const edits = (names.length > 0 ? names : [pick(this.#locks)]).map((name) => this.#drawn(name));
    this.#steps.push(JSON.stringify(edits));
    const { now, answers } = await client.apply(edits);
    same(answers.length, edits.length, 'the number of answers');
    for (const [i, edit] of edits.entries()) {
      const answer = answers[i] as Answer | Error;
      if (answer instanceof Error) throw answer;
      this.#compare(edit, answer, { at: now, wall: now });
    }
  }

  #drawn(name: string): Edit {
    const token = this.#expected.get(name)?.token;
    const isLock = this.#locks.includes(name);
    const draw = Math.random();
    if (draw < 0.1) return { op: 'delete', name };
    if (draw < 0.3) {
      const newerThan = pick([undefined, token, 0]);
      return isLock || Math.random() < 0.5
        ? { op: 'read', name, newerThan, isBrief: pick([true, false]) }
        : { op: 'read', name, token: near(token), newerThan };
    }
    const id = pick(['one', 'two']);
    if (isLock && draw < 0.6)
      return { op: 'claim', name, id, text: `holder ${draw}`, forMs: LONG_MS, force: pick([true, false]) };
    if (isLock) {
      const end = { phase: 'held', note: pick(['done', 'failed']), forMs: pick([0, LONG_MS]) } as const;
      const amended = pick([end, { forMs: LONG_MS }]);
      return { op: 'amend', name, token: near(token) ?? 1, id: pick([id, id, undefined]), ...amended };
    }
    if (draw < 0.5) {
      const note = pick(['confirmed', `confirmed ${draw}`]); // beside the text of a snapshot
      return { op: 'amend', name, token: near(token) ?? 1, id: undefined, phase: 'held', note, forMs: 0 };
    }
    const text = pick(['short', `${draw}`, `long ${'x'.repeat(5000)}`]);
    const over = pick([undefined, undefined, token]);
    return {
      op: 'put',
      name,
      token: near(token),
      over,
      text,
      keepMs: pick([undefined, undefined, LONG_MS]),
      older: OLDER,
    };
  }

  #compare(edit: Edit, answer: Answer, now: Instant): void {
    const { name } = edit;
    const before = this.#expected.get(name);
    const made = edited(before, edit, now);
    let { next } = made;
    const found = edit.op === 'read' ? foundBy(next, edit) : next;
    same(answer.isDone, edit.op === 'read' ? found !== undefined : made.isDone, this.#about(edit, 'isDone'));
    same(answer.row === undefined, found === undefined, this.#about(edit, 'without a row'));
    if (answer.row !== undefined && found !== undefined) {
      const isByClock =
        next !== before && (edit.op === 'claim' || (edit.op === 'put' && edit.token === undefined));
      if (isByClock && next !== undefined) {
        const { token } = answer.row;
        ensure(token > (before?.token ?? 0), this.#about(edit, `a token that grows, got ${token}`));
        const aheadMs = token / 1000 - now.wall;
        ensure(
          Math.abs(aheadMs) < TOLERANCE_MS || token === next.token,
          this.#about(edit, `the token of the clock, got ${token}`),
        );
        next = { ...next, token };
      }
      const hasText = edit.op === 'claim' || (edit.op === 'read' && edit.isBrief !== true);
      const shown = isByClock && next !== undefined ? next : found;
      this.#compareRow(
        edit,
        answer.row,
        rowOf(shown, now, (text) => (hasText ? text : '')),
      );
    }
    if (next === undefined) this.#expected.delete(name);
    // The end of a record is over for another client too, which knows a clock some milliseconds behind.
    else this.#expected.set(name, next.until > now.at ? next : { ...next, until: 0 });
  }

  #compareRow(edit: Edit, row: Row, expected: Row): void {
    for (const field of ['token', 'id', 'phase', 'text', 'note', 'damage', 'replaced'] as const)
      same(row[field], expected[field], this.#about(edit, field));
    for (const field of ['age', 'changedAgo', 'left'] as const) {
      const difference = Math.abs(row[field] - expected[field]);
      ensure(difference < TOLERANCE_MS, this.#about(edit, `${field}: ${row[field]}, not ${expected[field]}`));
    }
  }

  async #compareEditions(name: string): Promise<void> {
    const editions = await pick(this.#clients).editions(name, 100);
    const record = this.#expected.get(name);
    const expected = record === undefined ? [] : [record, ...record.older];
    const found = editions.map(({ row, bytes }) => `${row.token} ${bytes} ${row.text.slice(0, 100)}`);
    const wanted = expected.map(({ token, text }) => `${token} ${text.length} ${text.slice(0, 100)}`);
    sameList(found, wanted, `token, bytes and beginning of the text of the editions of ${name}`);
  }

  async #compareList(): Promise<void> {
    const beginning = (this.#locks[0] as string).slice(0, -1);
    const { rows } = await pick(this.#clients).list(beginning, 1000);
    const listed = rows.map(([name]) => name);
    const expected = this.#locks.filter((name) => this.#expected.has(name));
    sameList(listed, expected, 'the listed names');
  }

  #about(edit: Edit, what: string): string {
    return `${what} of ${JSON.stringify(edit)} after ${this.#steps.join('\n')}\n`;
  }
}

function pick<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] as T;
}

/** A token at, before or after the present one. */
function near(token: number | undefined): number | undefined {
  return token === undefined ? pick([undefined, 5]) : pick([undefined, token - 1, token, token, token + 1]);
}
