import { bytesOf } from '../../cluster/history.ts';
import { oneByOne } from '../../cluster/one-by-one.ts';
import { damageOf, earlierOf, edited, foundBy, isExpired } from '../../records/edited.ts';
import { REPORT } from '../../records/names.ts';
import type { Amend, Answer, Edit, ListedEdition, Put, Read, Records, Row } from '../../records/records.ts';
import { systemClock } from '../../time/clock.ts';
import type { ClockSpan } from './date-clock.ts';
import { Keeping, partsIn, partsOf } from './keeping.ts';
import { closed, instantOf, middle, recordIn, rowAt, type Text, type TextRecord } from './stored-text.ts';
import { type Decision, SwapLoop } from './swap-loop.ts';
import { firstPart, type Parts, TextParts } from './text-parts.ts';
import type { SwappableTexts, TextKey } from './texts.ts';

/** Shorter texts are in the record itself, so that a read is one command. In bytes of UTF-8. */
const MOST_INLINE = 3000;

/**
 * Records at a backend that computes nothing: a record is a text, which is read, edited here by the backend's clock, and
 * replaced if it is still the one that was read. A long text of a record is in parts, which are written before the record
 * that names them, and deleted after the last one that does.
 *
 * The server clock is known only as [earliest, latest]. Leases are written until `latest` and their length, and compared with
 * `earliest`, so no client sees a lease end too early.
 */
export class SwappedRecords implements Records {
  readonly mostEdits: number;
  readonly sharesCommands: boolean;
  readonly #texts: SwappableTexts;
  readonly #loop: SwapLoop;
  readonly #parts: TextParts;
  readonly #keeping: Keeping;

  /** @param retentionMs a record is kept for this long after its end, at least. */
  constructor(texts: SwappableTexts, retentionMs: number) {
    this.mostEdits = texts.mostEdits;
    this.sharesCommands = texts.mostEdits > 1;
    this.#texts = texts;
    this.#loop = new SwapLoop(texts);
    this.#parts = new TextParts(texts);
    this.#keeping = new Keeping(texts, this.#loop, this.#parts, retentionMs);
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const keys = edits.filter(({ op }) => op === 'read').map(({ name }) => keyOf(name));
    const found = keys.length === 0 ? [] : await this.#loop.read(keys);
    let next = 0;
    const texts = edits.map(({ op }) => (op === 'read' ? found[next++] : undefined));
    const answers = await oneByOne([...edits.keys()], (i) => this.#answer(edits[i] as Edit, texts[i]));
    return { now: middle(this.#texts.span()), answers };
  }

  /** @param text the one that was found, for a read. */
  #answer(edit: Edit, text: string | undefined): Promise<Answer> {
    switch (edit.op) {
      case 'read':
        return this.#read(edit, text);
      case 'put':
        return this.#put(edit);
      case 'delete':
        return this.#delete(edit.name);
      case 'amend':
        return this.#amend(edit);
      case 'claim':
        return this.#loop.run(keyOf(edit.name), (present, span) => this.#decided(edit, present, span));
    }
  }

  #decided(edit: Edit<Text>, text: string | undefined, span: ClockSpan): Decision<Answer> & Written {
    const record = recordIn(text);
    const { next, isDone } = edited(record, widened(edit, widthOf(span)), instantOf(span));
    const rowOf = (one: TextRecord, isHolder: boolean): Row => {
      const row = rowAt(one, span, isHolder);
      return edit.op === 'claim' ? row : { ...row, text: '' };
    };
    if (next === undefined || next === record)
      return { record: next, answer: { isDone, row: next && rowOf(next, isDone) } };
    const written = closed(next, span);
    return {
      record: written,
      next: { text: JSON.stringify(written), keepForMs: this.#keeping.ofRecord(next) },
      answer: { isDone, row: rowOf(written, true) },
    };
  }

  async #amend(edit: Amend): Promise<Answer> {
    const key = keyOf(edit.name);
    let written: TextRecord | undefined;
    const answer = await this.#loop.run(key, (present, span) => {
      const decision = this.#decided(edit, present, span);
      written = decision.record;
      return decision;
    });
    if (answer.isDone) void this.#keeping.after(key, written);
    return answer;
  }

  async #put(edit: Put): Promise<Answer> {
    const key = keyOf(edit.name);
    let text: Text = edit.text;
    const older = edit.keepMs === undefined ? edit.older : 0;
    // Those that are listed are in one text each.
    if (!edit.name.startsWith(REPORT) && (older > 0 || bytesOf(text) > MOST_INLINE)) {
      const [present] = await this.#loop.read([key]);
      const span = this.#texts.span();
      const { answer } = this.#decided({ ...edit, text: '' }, present, span);
      if (!answer.isDone) return answer;
      const record = recordIn(present);
      // A text in parts is another one for each put.
      const isSame = record !== undefined && record.token === edit.token && record.keepMs === edit.keepMs;
      if (isSame && damageOf(record, instantOf(span)) === undefined) {
        if ((await this.#wholeText(key, record)) === edit.text) return found(rowAt(record, span, true), '');
      }
      text = await this.#parts.write(key.partition, edit.text, this.#keeping.ofParts(older, edit.keepMs));
    }
    const own = partsOf([{ text }]);
    let seen = own;
    let gone: readonly Parts[] = [];
    let written: TextRecord | undefined;
    const answer = await this.#loop.run(key, (present, span) => {
      const decision = this.#decided({ ...edit, text }, present, span);
      const { isDone } = decision.answer;
      // The edit may be made again after it was done, and finds its own record then.
      if (isDone) seen = [...seen, ...partsIn(recordIn(present))];
      written = decision.record;
      const kept = new Set(partsIn(written).map(({ id }) => id));
      gone = (isDone ? seen : own).filter(({ id }) => !kept.has(id));
      return decision;
    });
    void this.#parts.delete(key.partition, gone);
    if (answer.isDone) void this.#keeping.after(key, written); // parts of older editions
    return answer;
  }

  async #delete(name: string): Promise<Answer> {
    const key = keyOf(name);
    const record = recordIn(await this.#texts.take(key));
    void this.#parts.delete(key.partition, partsIn(record));
    return { isDone: record !== undefined, row: undefined };
  }

  async #read(edit: Read, first: string | undefined): Promise<Answer> {
    const endAt = systemClock.monotonic() + this.#texts.timeoutMs;
    const key = keyOf(edit.name);
    for (let text = first, before: string | undefined; ; ) {
      const record = foundBy<Text>(recordIn(text), edit);
      if (record === undefined) return { isDone: false, row: undefined };
      const row = rowAt(record, this.#texts.span(), false);
      if (edit.isBrief === true || row.damage !== undefined) return found(row, '');
      const whole = await this.#wholeText(key, record);
      if (whole !== undefined) return found(row, whole);
      // Deleted by a later put, or by hand.
      if (text === before || systemClock.monotonic() >= endAt) return found({ ...row, damage: 'text' }, '');
      before = text;
      [text] = await this.#loop.read([key]);
    }
  }

  async #wholeText({ partition }: TextKey, { text }: TextRecord): Promise<string | undefined> {
    return typeof text === 'string' ? text : this.#parts.read(partition, text);
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const isReport = prefix.startsWith(REPORT);
    const texts = isReport
      ? await this.#texts.ofPartition(REPORT, prefix.slice(REPORT.length), limit)
      : await this.#texts.ofPartitions(prefix, ONLY, limit);
    const span = this.#texts.span();
    const rows = texts.flatMap(({ key, text }) => {
      const record = recordIn(text) as TextRecord;
      const name = isReport ? REPORT + key.sort : key.partition;
      return isExpired(record, span.earliest) ? [] : [[name, rowAt(record, span, false)] as const];
    });
    return {
      now: middle(span),
      rows: rows.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit),
    };
  }

  /** Parts that are missing may be those of a put meanwhile. */
  async editions(name: string): Promise<ListedEdition[]> {
    const editions = await this.#editions(name);
    return editions.some(({ row }) => row.damage === 'text') ? this.#editions(name) : editions;
  }

  async #editions(name: string): Promise<ListedEdition[]> {
    const key = keyOf(name);
    const [text] = await this.#loop.read([key]);
    const record = recordIn(text);
    if (record === undefined) return [];
    const editions = [record, ...record.older.map((one) => earlierOf(record, one))];
    const inParts = partsOf(editions);
    const keys = inParts.map((parts) => firstPart(key.partition, parts));
    const firstTexts = keys.length === 0 ? [] : await this.#texts.read(keys);
    const span = this.#texts.span();
    return editions.map((edition): ListedEdition => {
      const row = rowAt(edition, span, false);
      if (typeof edition.text === 'string') return { row, bytes: bytesOf(edition.text) };
      const beginning = firstTexts[inParts.indexOf(edition.text)];
      const { bytes } = edition.text;
      if (beginning === undefined) return { row: { ...row, damage: row.damage ?? 'text' }, bytes };
      return { row: { ...row, text: beginning }, bytes };
    });
  }
}

/** The record after a decision. */
interface Written {
  readonly record: TextRecord | undefined;
}

/** The version of the format. */
const ONLY = 'v1';

function keyOf(name: string): TextKey {
  return name.startsWith(REPORT)
    ? { partition: REPORT, sort: name.slice(REPORT.length) }
    : { partition: name, sort: ONLY };
}

function found(row: Row, text: string): Answer {
  return { isDone: true, row: { ...row, text } };
}

function widthOf({ earliest, latest }: ClockSpan): number {
  return latest - earliest;
}

/** An edit whose durations are as long as asked for, also where the clock is at its latest moment. */
function widened(edit: Edit<Text>, width: number): Edit<Text> {
  switch (edit.op) {
    case 'claim':
      return { ...edit, forMs: edit.forMs + width };
    case 'amend':
      return { ...edit, forMs: edit.forMs && edit.forMs + width };
    default:
      return edit;
  }
}
