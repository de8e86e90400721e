import type { Cells, Change, Seen, Swap } from '../records/cells/cells.ts';
import { SwappedRecords } from '../records/cells/swapped-records.ts';
import { edited, foundBy, type Instant, rowOf, type StoredRecord } from '../records/edited.ts';
import { LOCK, placeOf, REPORT, SNAPSHOT } from '../records/names.ts';
import type { Answer, Edit, Records, Row } from '../records/records.ts';
import { ensure, same, sameList } from './assert.ts';
import { type ConformanceCase, namesFrom, uniqueName } from './conformance.ts';

/** The cells that {@link recordsConformance} tests. */
export interface RecordsSubject {
  /** Cells at the backend. */
  readonly cells: () => Cells;
  /** The same over another client. @default `cells` */
  readonly other?: (() => Cells) | undefined;
}

/**
 * Test cases for {@link Cells}: random changes of the records of two clients in turn, compared with the pure function that defines
 * them. Each run takes other ones; an error names all of them. They use their own names, and delete these.
 *
 * @returns independent cases: they may run in any order, and concurrently.
 */
export function recordsConformance({ cells, other = cells }: RecordsSubject): readonly ConformanceCase[] {
  const [records, others] = [new SwappedRecords(cells(), LONG_MS), new SwappedRecords(other(), LONG_MS)];
  return [...recordsCases({ records: () => records, other: () => others }), ...cellsCases(cells)];
}

/** Those of cells alone. */
export function cellsCases(cells: () => Cells): readonly ConformanceCase[] {
  const name =
    'cells: a swap that is not done answers with the main text beside the present one, unless that is known';
  return [{ name, run: () => showsMain(cells()) }];
}

async function showsMain(cells: Cells): Promise<void> {
  const long = `long ${'x'.repeat(5000)}`;
  const { name, text, id } = await put(cells, SNAPSHOT + uniqueName('main'), long);
  const another = `${name}-another`;
  const next = `${text} `;
  const kept: Swap = {
    before: 'other',
    after: next,
    main: id,
    adds: undefined,
    drops: [],
    keepForMs: LONG_MS,
  };
  const whole: Change = { name, isWhole: true, op: 'claim', swap: kept };
  const made: Change = {
    name: another,
    isWhole: true,
    swap: { ...kept, before: undefined, main: undefined },
  };
  const seen = async (...changes: readonly Change[]): Promise<Seen> => {
    const [first] = (await cells.swap(changes)).answers;
    if (first === undefined || first instanceof Error) throw first ?? new Error('no answer');
    return first;
  };
  const compare = (one: Seen, expected: Seen, of: string): void => {
    for (const field of ['isDone', 'text', 'main'] as const)
      same(one[field], expected[field], `${field} of ${of}`);
  };
  try {
    const asked = { isDone: false, text, main: long };
    const unasked = { isDone: false, text, main: undefined };
    compare(await seen(whole), asked, 'a swap that is not done');
    compare(await seen(whole, made), asked, 'the same beside one that is done');
    compare(await seen(whole, { name: another }), asked, 'the same beside a look');
    compare(await seen({ ...whole, known: 'of another' }), asked, 'the same where another one is known');
    compare(
      await seen({ ...whole, swap: { ...kept, before: undefined } }),
      asked,
      'one that expects no text',
    );
    compare(await seen({ ...whole, known: id }), unasked, 'one where the main text is known');
    compare(await seen({ ...whole, isWhole: false }), unasked, 'one that does not ask for it');
    const done = { ...whole, swap: { ...kept, before: text } };
    const { isDone, main } = await seen(done);
    compare({ isDone, main }, { isDone: true }, 'a swap that is done');
    const again = await seen(done);
    compare(
      { isDone: again.isDone, main: again.main },
      { isDone: true },
      'the same once more, as its answer was lost',
    );
    compare(
      await seen({ ...whole, swap: { ...kept, after: text } }),
      { ...asked, text: next },
      'the next one',
    );
  } finally {
    const deleted = { ...kept, after: undefined, main: undefined };
    for (const [one, before] of [
      [name, next],
      [another, next],
    ] as const)
      await cells.swap([{ name: one, op: 'delete', swap: { ...deleted, before } }]);
  }
}

/** Puts a long text under a new name. @returns the name and the text of its cell, and its id in it. */
async function put(
  cells: Cells,
  record: string,
  long: string,
): Promise<{ readonly name: string; readonly text: string; readonly id: string }> {
  const changes: Change[] = [];
  const watched: Cells = {
    swap: (some) => {
      changes.push(...some);
      return cells.swap(some);
    },
    long: (...args) => cells.long(...args),
    list: (...args) => cells.list(...args),
  };
  await new SwappedRecords(watched, LONG_MS).apply([
    { op: 'put', name: record, token: 1, text: long, older: 0 },
  ]);
  const { name, swap } = changes.find((change) => change.swap?.adds !== undefined) as Change;
  return { name, text: String(swap?.after), id: String(swap?.adds?.id) };
}

/** The same of records, however they are kept. */
export function recordsCases({
  records,
  other = records,
  areInOrder = false,
}: {
  readonly records: () => Records;
  readonly other?: () => Records;
  /** Edits of one name are made one after the other, up to the first that is not done. @default false: all of them, or none */
  readonly areInOrder?: boolean;
}): readonly ConformanceCase[] {
  const walk = (named: Named) => new Walk([records(), other()], areInOrder, named).run();
  const made = areInOrder ? 'made in order' : 'one change';
  const walks = Array.from({ length: WALKS }, (_, i) => [
    {
      name: `records: random edits of two clients are those of the definition, ${i + 1}`,
      run: () => walk('apart'),
    },
    {
      name: `records: random edits of the lock and the snapshot of a name are ${made}, ${i + 1}`,
      run: () => walk('alike'),
    },
  ]);
  const name = 'records: an edition that was noted is kept as any, and has no note once it is an earlier one';
  return [
    ...walks.flat(),
    { name, run: () => keepsNoted(records()) },
    {
      name: 'records: ten changes at once of the text that was found lose none, short or long',
      run: () => losesNone([records(), other()]),
    },
  ];
}

/** Each adds a line to the text in the place of the edition that it knows; where another one is there, to that. */
async function losesNone(clients: readonly [Records, Records]): Promise<void> {
  const name = SNAPSHOT + uniqueName('shared');
  const lines = Array.from({ length: CHANGES }, (_, i) => `${i} ${'x'.repeat(i * LINE_GROWS_BY)}`);
  const add = async (records: Records, line: string): Promise<void> => {
    let [expected, before] = [0, ''];
    for (;;) {
      const put = { op: 'put', name, expected, text: `${before}${line}\n`, older: 0 } as const;
      const [made, found] = (await records.apply([put, { op: 'read', name }])).answers;
      if (made instanceof Error) throw made;
      if (made?.isDone) return;
      if (found instanceof Error) throw found;
      [expected, before] = [found?.row?.token ?? 0, found?.row?.text ?? ''];
    }
  };
  try {
    await Promise.all(lines.map((line, i) => add(clients[i % 2] as Records, line)));
    const [read] = (await clients[0].apply([{ op: 'read', name }])).answers;
    if (read instanceof Error) throw read;
    const kept = String(read?.row?.text).trimEnd().split('\n');
    sameList(kept.sort(), lines.sort(), 'the lines of all changes');
  } finally {
    await clients[0].apply([{ op: 'delete', name }]);
  }
}

/** Changes that are made at once. */
const CHANGES = 10;
/** Each line is longer than the one before, in characters. */
const LINE_GROWS_BY = 100;

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

/** Whether a lock and a snapshot have the same name. */
type Named = 'apart' | 'alike';

/** One run of random edits. */
class Walk {
  readonly #clients: readonly [Records, Records];
  readonly #areInOrder: boolean;
  readonly #share: number;
  readonly #locks: readonly string[];
  readonly #snapshots: readonly string[];
  readonly #expected: Map<string, StoredRecord> = new Map();
  readonly #steps: string[] = [];

  constructor(clients: readonly [Records, Records], areInOrder: boolean, named: Named) {
    this.#clients = clients;
    this.#areInOrder = areInOrder;
    this.#share = named === 'alike' ? 0.6 : 0.3;
    const claimed = uniqueName('claimed');
    const put = named === 'alike' ? claimed : uniqueName('put');
    this.#locks = namesFrom(LOCK + claimed, ['a', 'b']);
    this.#snapshots = [...namesFrom(SNAPSHOT + put, ['a', 'b']), `${REPORT}${uniqueName('put')}`];
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

  /** One edit, or several of different records. */
  async #step(client: Records): Promise<void> {
    const names = [...this.#locks, ...this.#snapshots].filter(() => Math.random() < this.#share);
    if (Math.random() < 0.5) names.reverse();
    const edits = (names.length > 0 ? names : [pick(this.#locks)]).map((name) => this.#drawn(name));
    this.#steps.push(JSON.stringify(edits));
    const { now, answers } = await client.apply(edits);
    same(answers.length, edits.length, 'the number of answers');
    const at = { at: now, wall: now };
    const areHeldBack = edits.map((edit) => this.#isHeldBack(edit, edits, at));
    for (const [i, edit] of edits.entries()) {
      const answer = answers[i] as Answer | Error;
      if (answer instanceof Error) throw answer;
      if (!areHeldBack[i]) this.#compare(edit, answer, at);
      else if (edit.op === 'read') this.#compare({ ...edit, isBrief: true }, answer, at);
      else this.#compareUndone(edit, answer, at);
    }
  }

  /**
   * By a change of the other part of its name: another change is not made where that one is not done, and a read has no text where
   * it is. In order, only one that comes before counts.
   */
  #isHeldBack(edit: Edit, edits: readonly Edit[], now: Instant): boolean {
    const { cell } = placeOf(edit.name);
    const asked = this.#areInOrder ? edits.slice(0, edits.indexOf(edit)) : edits;
    const other = asked.find((one) => one !== edit && one.op !== 'read' && placeOf(one.name).cell === cell);
    if (other === undefined) return false;
    const { isDone } = edited(this.#expected.get(other.name), other, now);
    return isDone === (edit.op === 'read');
  }

  /** An edit that another one has held back. */
  #compareUndone(edit: Edit, answer: Answer, now: Instant): void {
    same(answer.isDone, false, this.#about(edit, 'isDone'));
    if (this.#areInOrder) return; // the record was not looked at
    const present = this.#expected.get(edit.name);
    same(answer.row === undefined, present === undefined, this.#about(edit, 'without a row'));
    if (answer.row === undefined || present === undefined) return;
    const textOf = (text: string): string => (edit.op === 'claim' ? text : '');
    this.#compareRow(edit, answer.row, rowOf(present, now, textOf));
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
    const [given, expected] = draw < 0.8 ? [near(token)] : [undefined, near(token) ?? 0];
    return {
      op: 'put',
      name,
      token: given,
      over,
      expected,
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
    const most = pick([1, 1000]);
    const { rows } = await pick(this.#clients).list(beginning, most);
    const listed = rows.map(([name]) => name);
    const expected = this.#locks.filter((name) => this.#expected.has(name));
    sameList(listed, expected.slice(0, most), 'the listed names');
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
