import { bytesOf } from '../../cluster/history.ts';
import { randomId } from '../../cluster/identity.ts';
import { systemClock } from '../../time/clock.ts';
import { earlierOf, edited, foundBy, isExpired } from '../edited.ts';
import { REPORT } from '../names.ts';
import { readOf } from '../read-of.ts';
import type { Answer, Edit, ListedEdition, Put, Read, Records, Row } from '../records.ts';
import type { Cells, Change, Seen, Swap } from './cells.ts';
import { type ClockSpan, KnownClock } from './known-clock.ts';
import {
  closed,
  fitting,
  idsIn,
  instantOf,
  isLong,
  type Long,
  middle,
  recordIn,
  rowAt,
  type Text,
  type TextRecord,
} from './stored-text.ts';
import { type Step, SwapLoop } from './swap-loop.ts';

/** Shorter texts of all editions together are in the record itself. In bytes of UTF-8. */
const MOST_INLINE = 3000;

/** The answer to an edit. */
interface Outcome {
  readonly answer: Answer;
  /** A long text of the same length is there, which may be that of the put. */
  readonly doubt?: Long | undefined;
  /** The text of the record that a put has found in the place of the expected one. */
  readonly found?: string | undefined;
}

/**
 * Records at a backend that computes nothing: a record is a text, which is read, edited here by the backend's clock, and
 * replaced if it is still the one that was read. A long text of a record is beside it.
 *
 * The server clock is known only as [earliest, latest]. Leases are written until `latest` and their length, and compared with
 * `earliest`, so no client sees a lease end too early.
 */
export class SwappedRecords implements Records {
  readonly mostEdits: number;
  readonly #cells: Cells;
  readonly #loop: SwapLoop;
  readonly #retentionMs: number;

  /** @param retentionMs a record is kept for this long after its end, at least. @param clock of the backend. */
  constructor(cells: Cells, retentionMs: number, clock: KnownClock = new KnownClock(systemClock.monotonic)) {
    this.mostEdits = cells.mostEdits ?? 1;
    this.#cells = cells;
    this.#loop = new SwapLoop(cells, clock);
    this.#retentionMs = retentionMs;
  }

  get sharesCommands(): boolean {
    return this.#cells.sharesCommands ?? false;
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const reads = edits.filter((edit) => edit.op === 'read');
    const changes = edits.filter((edit) => edit.op !== 'read');
    const { answers: changed, seen } = await this.#loop.run(
      changes.map((edit) => this.#stepOf(edit)),
      reads.map((read) => this.#lookOf(read)),
    );
    const settled = [
      ...changes.map((edit, i) => this.#settled(edit, changed[i] as Outcome | Error)),
      ...reads.map((read, i) => this.#found(read, seen[i] as Seen | Error)),
    ];
    const found = await Promise.all(settled.map((one) => one.catch((error: Error) => error)));
    const answers = new Map([...changes, ...reads].map((edit, i) => [edit, found[i] as Answer | Error]));
    return {
      now: middle(this.#loop.span()),
      answers: edits.map((edit) => answers.get(edit) as Answer | Error),
    };
  }

  /** A long text that the reader has, as its record was seen, does not travel again. */
  #lookOf({ name, newerThan = -1, isBrief }: Read): Change {
    const before = recordIn(this.#loop.known(name));
    const isHeld = before !== undefined && before.token <= newerThan && isLong(before.text);
    return { name, isWhole: isBrief !== true, known: isHeld ? (before.text as Long).id : undefined };
  }

  async #found(read: Read, seen: Seen | Error): Promise<Answer> {
    if (seen instanceof Error) throw seen;
    const present = recordIn(seen.text);
    const record = foundBy<Text>(present, read);
    if (record === undefined) return NOT_DONE;
    const row = rowAt(record, this.#loop.span(), false);
    if (read.isBrief === true || row.damage !== undefined) return { isDone: true, row: { ...row, text: '' } };
    const isMain = isLong(record.text) && record.text === present?.text;
    const text = (isMain ? seen.main : undefined) ?? (await this.#textOf(read.name, record));
    if (text !== undefined) return { isDone: true, row: { ...row, text } };
    const [again] = (await this.#loop.run([], [this.#lookOf(read)])).seen as readonly [Seen | Error];
    // The long text was dropped by a put meanwhile, or by hand.
    const isOther = again instanceof Error || again.text !== seen.text;
    return isOther ? this.#found(read, again) : { isDone: true, row: { ...row, text: '', damage: 'text' } };
  }

  async #textOf(name: string, { text }: TextRecord): Promise<string | undefined> {
    if (!isLong(text)) return text;
    const [whole] = await this.#cells.long(name, [text.id], Infinity);
    return whole;
  }

  /** Takes a put again that may have been made before, now that this is known. */
  async #settled(edit: Exclude<Edit, Read>, outcome: Outcome | Error): Promise<Answer> {
    if (outcome instanceof Error) throw outcome;
    const { answer, doubt, found } = outcome;
    if (edit.op !== 'put') return answer;
    const [text] = doubt === undefined ? [] : await this.#cells.long(edit.name, [doubt.id], Infinity);
    const isSame = text === edit.text;
    if (found !== undefined && !isSame) {
      const { row } = await this.#found(readOf(edit.name), { isDone: true, text: found, main: text });
      return { isDone: false, row };
    }
    if (doubt === undefined) return answer;
    const { answers } = await this.#loop.run([this.#stepOf(edit, { long: doubt, isSame })]);
    return this.#settled(edit, answers[0] as Outcome | Error);
  }

  /** @param compared the long text that is there, and whether it is that of the put. */
  #stepOf(
    edit: Exclude<Edit, Read>,
    compared?: { readonly long: Long; readonly isSame: boolean },
  ): Step<Outcome> {
    const put = edit.op === 'put' && isLarge(edit) ? edit : undefined;
    const long = put && { id: randomId(), bytes: bytesOf(put.text) };
    return {
      name: edit.name,
      op: edit.op,
      looksFirst: put !== undefined,
      decide: (stored, span) => {
        const before = recordIn(stored);
        const alike = put && long && alikeIn(before, put, long);
        const found = edit.op === 'put' && edit.expected !== undefined ? stored : undefined;
        if (alike !== undefined && alike.id !== compared?.long.id)
          return { answer: { answer: NOT_DONE, doubt: alike, found } };
        const text = alike !== undefined && compared?.isSame ? alike : long;
        const given: Edit<Text> = put === undefined || text === undefined ? edit : { ...put, text };
        const { next, isDone } = edited(before, widened(given, widthOf(span)), instantOf(span));
        const row = (record: TextRecord, isHolder: boolean): Row => {
          const shown = rowAt(record, span, isHolder);
          return edit.op === 'claim' ? shown : { ...shown, text: '' };
        };
        if (next === before) {
          const answer = { isDone, row: next && row(next, isDone) };
          return { answer: isDone ? { answer } : { answer, found } };
        }
        const written = next && closed(fitting(next, this.#cells.mostBytes ?? Infinity), span);
        const adds = put && long && text === long ? { id: long.id, text: put.text } : undefined;
        return {
          swap: swapTo(before, written, adds, next === undefined ? 0 : this.#keepFor(next, span)),
          isTimed: written !== undefined && written.until > 0,
          answer: { answer: { isDone, row: written && row(written, true) } },
        };
      },
    };
  }

  #keepFor({ until, keepMs }: TextRecord, { earliest }: ClockSpan): number {
    return Math.max(0, until - earliest) + Math.min(this.#retentionMs, keepMs ?? Infinity);
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const texts = await this.#loop.list(prefix, limit);
    const span = this.#loop.span();
    const rows = texts.flatMap(([name, text]) => {
      const record = recordIn(text) as TextRecord;
      return isExpired(record, span.earliest) ? [] : [[name, rowAt(record, span, false)] as const];
    });
    return { now: middle(span), rows: rows.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit) };
  }

  editions(name: string, beginning: number): Promise<readonly ListedEdition[]> {
    return this.#editions(name, beginning);
  }

  /** @param before the text of the record as a long text of it was missing: a put may have dropped that meanwhile. */
  async #editions(name: string, beginning: number, before?: string): Promise<readonly ListedEdition[]> {
    const { seen } = await this.#loop.run([], [{ name }]);
    const [found] = seen as readonly [Seen | Error];
    if (found instanceof Error) throw found;
    const record = recordIn(found.text);
    if (record === undefined) return [];
    const ids = idsIn(record);
    const texts = ids.length === 0 ? [] : await this.#cells.long(name, ids, beginning);
    if (texts.includes(undefined) && found.text !== before)
      return this.#editions(name, beginning, found.text);
    const span = this.#loop.span();
    const editions = [record, ...record.older.map((one) => earlierOf(record, one))];
    return editions.map((edition): ListedEdition => {
      const row = rowAt(edition, span, false);
      const { text } = edition;
      if (!isLong(text)) return { row, bytes: bytesOf(text) };
      const shown = texts[ids.indexOf(text.id)];
      if (shown === undefined) return { row: { ...row, damage: row.damage ?? 'text' }, bytes: text.bytes };
      return { row: { ...row, text: shown }, bytes: text.bytes };
    });
  }

  async warning(): Promise<string | undefined> {
    return this.#cells.warning?.();
  }
}

/** Reports are listed with their texts. */
function isLarge({ name, text, older }: Put): boolean {
  return !name.startsWith(REPORT) && bytesOf(text) > MOST_INLINE / (older + 1);
}

const NOT_DONE: Answer = { isDone: false, row: undefined };

/** A long text that may be the same put, made before. */
function alikeIn(
  before: TextRecord | undefined,
  { token, expected = before?.token }: Put,
  { id, bytes }: Long,
): Long | undefined {
  if (before === undefined || !isLong(before.text)) return undefined;
  if (before.token !== token && before.token === expected) return undefined;
  return before.text.bytes === bytes && before.text.id !== id ? before.text : undefined;
}

function swapTo(
  before: TextRecord | undefined,
  after: TextRecord | undefined,
  adds: Swap['adds'],
  keepForMs: number,
): Omit<Swap, 'before'> {
  const named = idsIn(after);
  return {
    after: after && JSON.stringify(after),
    main: isLong(after?.text) ? after.text.id : undefined,
    adds,
    drops: idsIn(before).filter((id) => !named.includes(id)),
    keepForMs,
  };
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
