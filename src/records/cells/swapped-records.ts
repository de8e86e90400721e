import { bytesOf } from '../../cluster/history.ts';
import { randomId } from '../../cluster/identity.ts';
import { systemClock } from '../../time/clock.ts';
import { earlierOf, edited, foundBy, isExpired, LONGEST_AHEAD_MS } from '../edited.ts';
import { nameAt, PARTS, type Place, placeOf, REPORT } from '../names.ts';
import type { Answer, Edit, ListedEdition, Put, Read, Records } from '../records.ts';
import type { Cells, Change, LongText, Seen, Swap } from './cells.ts';
import { type ClockSpan, KnownClock } from './known-clock.ts';
import {
  closed,
  fitting,
  idsIn,
  instantOf,
  isLong,
  type Long,
  mainIn,
  middle,
  type Parts,
  partsIn,
  rowAt,
  type Text,
  type TextRecord,
  textOf,
} from './stored-text.ts';
import { type Step, SwapLoop } from './swap-loop.ts';

/** Shorter texts of all editions together are in the record itself. In bytes of UTF-8. */
const MOST_INLINE = 3000;

/** Of how many names the records are kept that were parsed last. */
const MOST_PARSED = 1000;

type ChangingEdit<T = string> = Exclude<Edit<T>, Read>;

/** The edits of one cell: one change of it, and looks at its parts. */
interface Group {
  readonly cell: string;
  readonly changes: readonly ChangingEdit[];
  readonly reads: readonly Read[];
}

/** The answer to the edits of a group. */
interface Outcome {
  readonly answers: readonly Answer[];
  /** The text that was decided on. */
  readonly stored: string | undefined;
  /** As of {@link Seen}, with that text. */
  readonly main: string | undefined;
  readonly isChanged: boolean;
  /** A long text of the same token and length is there, which may be that of the put. */
  readonly doubt?: Long | undefined;
}

/**
 * Records at a backend that computes nothing: the records of a name are a text, which is read, edited here by the backend's clock, and
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
  /** A text is decided on several times. */
  readonly #parsed: Map<string, { readonly text: string; readonly parts: Parts }> = new Map();
  /** The last version that a put of this client was given. */
  #marked = 0;

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
    const groups = groupsOf(edits);
    const changed = groups.filter(({ changes }) => changes.length > 0);
    const looked = groups.filter(({ changes }) => changes.length === 0);
    const { answers: outcomes, seen } = await this.#loop.run(
      changed.map((group) => this.#stepOf(group)),
      looked.map(({ cell, reads }) => this.#lookOf(cell, reads)),
    );
    const found = new Map<Edit, Promise<Answer>>();
    for (const [i, group] of changed.entries()) {
      const settled = this.#settled(group, outcomes[i] as Outcome | Error);
      for (const [at, edit] of [...group.changes, ...group.reads].entries())
        found.set(
          edit,
          settled.then((answers) => answers[at] as Answer),
        );
    }
    for (const [i, { cell, reads }] of looked.entries())
      for (const read of reads) found.set(read, this.#found(cell, read, seen[i] as Seen | Error));
    const answers = await Promise.all(
      edits.map((edit) => (found.get(edit) as Promise<Answer>).catch((error: Error) => error)),
    );
    return { now: middle(this.#loop.span()), answers };
  }

  #partsIn(cell: string, text: string | undefined): Parts {
    if (text === undefined) return partsIn(text);
    const last = this.#parsed.get(cell);
    if (last?.text === text) return last.parts;
    const parts = partsIn(text);
    if (this.#parsed.size >= MOST_PARSED) this.#parsed.clear();
    this.#parsed.set(cell, { text, parts });
    return parts;
  }

  /** A long text that the reader has, as its record was seen, does not travel again. */
  #lookOf(cell: string, reads: readonly Read[]): Change {
    const whole = reads.filter(({ isBrief }) => isBrief !== true);
    const before = this.#partsIn(cell, this.#loop.known(cell));
    const isHeld = ({ name, newerThan = -1 }: Read): boolean => {
      const record = before.get(placeOf(name).part);
      return record !== undefined && record.token <= newerThan && isLong(record.text);
    };
    const known = whole.every(isHeld) ? mainIn(before) : undefined;
    return { name: cell, isWhole: whole.length > 0, known };
  }

  async #found(cell: string, read: Read, seen: Seen | Error): Promise<Answer> {
    if (seen instanceof Error) throw seen;
    const { part } = placeOf(read.name);
    const present = this.#partsIn(cell, seen.text).get(part);
    const record = foundBy<Text>(present, read);
    if (record === undefined) return NOT_DONE;
    const row = rowAt(record, this.#loop.span(), false);
    if (read.isBrief === true || row.damage !== undefined) return { isDone: true, row: { ...row, text: '' } };
    const isMain = isLong(record.text) && record.text === present?.text;
    const text = (isMain ? seen.main : undefined) ?? (await this.#textOf(cell, record));
    if (text !== undefined) return { isDone: true, row: { ...row, text } };
    const [again] = (await this.#loop.run([], [this.#lookOf(cell, [read])])).seen as readonly [Seen | Error];
    // The long text was dropped by a put meanwhile, or by hand.
    const isOther = again instanceof Error || again.text !== seen.text;
    return isOther
      ? this.#found(cell, read, again)
      : { isDone: true, row: { ...row, text: '', damage: 'text' } };
  }

  async #textOf(cell: string, { text }: TextRecord): Promise<string | undefined> {
    if (!isLong(text)) return text;
    const [whole] = await this.#cells.long(cell, [text.id], Infinity);
    return whole;
  }

  /** Takes a put again that may have been made before, now that this is known. @returns the answers to the changes, then to the reads. */
  async #settled(group: Group, outcome: Outcome | Error): Promise<readonly Answer[]> {
    if (outcome instanceof Error) throw outcome;
    const { answers, stored, main, isChanged, doubt } = outcome;
    const { cell, changes, reads } = group;
    for (const [i, edit] of changes.entries()) {
      const isGiven = edit.op === 'put' && edit.token === undefined && answers[i]?.isDone === true;
      if (isGiven) this.#marked = Math.max(this.#marked, answers[i]?.row?.token || 0);
    }
    if (doubt === undefined) {
      const seen = { isDone: false, text: stored, main };
      const found = reads.map((read) =>
        this.#found(cell, isChanged ? { ...read, isBrief: true } : read, seen),
      );
      return [...answers, ...(await Promise.all(found))];
    }
    const [text] = await this.#cells.long(cell, [doubt.id], Infinity);
    const isSame = changes.some((edit) => edit.op === 'put' && edit.text === text);
    const again = await this.#loop.run([this.#stepOf(group, { long: doubt, isSame })]);
    return this.#settled(group, again.answers[0] as Outcome | Error);
  }

  /** @param compared the long text that is there, and whether it is that of the put. */
  #stepOf(
    { cell, changes, reads }: Group,
    compared?: { readonly long: Long; readonly isSame: boolean },
  ): Step<Outcome> {
    const put = changes.find((edit) => edit.op === 'put' && isLarge(edit)) as Put | undefined;
    const long = put && { id: randomId(), bytes: bytesOf(put.text) };
    const { isWhole, known } = this.#lookOf(cell, reads);
    return {
      name: cell,
      op: put?.op ?? changes[0]?.op,
      isWhole,
      known,
      looksFirst: looksFirst(changes, put),
      decide: (stored, span, main) => {
        const parts = this.#partsIn(cell, stored);
        const alike = put && long && alikeIn(parts.get(placeOf(put.name).part), put, long);
        if (alike !== undefined && alike.id !== compared?.long.id)
          return { answer: { answers: [], stored, main, isChanged: false, doubt: alike } };
        const text = alike !== undefined && compared?.isSame ? alike : long;
        const given = changes.map(
          (edit): ChangingEdit<Text> => (edit === put && text !== undefined ? { ...put, text } : edit),
        );
        const made = editedBy(given, parts, span, { marked: this.#marked, mostBytes: this.#cells.mostBytes });
        const { areDone, after } = made;
        const shown = changes.map((edit, i) => answerTo(edit, made.edits[i] as EditedPart, span));
        const answer = { answers: shown, stored, main, isChanged: areDone };
        if (!areDone || made.edits.every(({ isChanged }) => !isChanged)) return { answer };
        const adds = put && long && text === long ? { id: long.id, text: put.text } : undefined;
        const isTimed = made.edits.some(({ record }) => record !== undefined && record.until > 0);
        return { swap: swapTo(parts, after, adds, this.#keepFor(after, span)), isTimed, answer };
      },
    };
  }

  /** As long as the part that is kept longest. The end of a part that was edited by hand may be anything. */
  #keepFor(parts: Parts, { earliest }: ClockSpan): number {
    const times = [...parts.values()].map(({ until, pinnedUntil = 0, keepMs }) => {
      const end = Math.max(until, pinnedUntil);
      const left = Number.isFinite(end) ? Math.min(end - earliest, LONGEST_AHEAD_MS) : 0;
      return Math.max(0, left) + Math.min(this.#retentionMs, keepMs ?? Infinity);
    });
    return Math.max(0, ...times);
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const { cell, part } = placeOf(prefix);
    for (let most = limit; ; most *= 2) {
      const texts = await this.#loop.list(cell, most);
      const span = this.#loop.span();
      const rows = texts.flatMap(([name, text]) => {
        const record = partsIn(text).get(part);
        if (record === undefined || isExpired(record, span.earliest)) return [];
        return [[nameAt(name, part), rowAt(record, span, false)] as const];
      });
      if (rows.length < limit && texts.length >= most) continue; // names without that part are among them
      return { now: middle(span), rows: rows.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit) };
    }
  }

  editions(name: string, beginning: number): Promise<readonly ListedEdition[]> {
    return this.#editions(placeOf(name), beginning);
  }

  /** @param before the text of the record as a long text of it was missing: a put may have dropped that meanwhile. */
  async #editions(place: Place, beginning: number, before?: string): Promise<readonly ListedEdition[]> {
    const { cell, part } = place;
    const { seen } = await this.#loop.run([], [{ name: cell }]);
    const [found] = seen as readonly [Seen | Error];
    if (found instanceof Error) throw found;
    const record = partsIn(found.text).get(part);
    if (record === undefined) return [];
    const ids = idsIn(new Map([[part, record]]));
    const texts = ids.length === 0 ? [] : await this.#cells.long(cell, ids, beginning);
    if (texts.includes(undefined) && found.text !== before)
      return this.#editions(place, beginning, found.text);
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

function groupsOf(edits: readonly Edit[]): readonly Group[] {
  const groups = new Map<string, { changes: ChangingEdit[]; reads: Read[] }>();
  for (const edit of edits) {
    const { cell } = placeOf(edit.name);
    const group = groups.get(cell) ?? { changes: [], reads: [] };
    groups.set(cell, group);
    if (edit.op === 'read') group.reads.push(edit);
    else group.changes.push(edit);
  }
  return Array.from(groups, ([cell, group]) => ({ cell, ...group }));
}

/** A part after an edit. */
interface EditedPart {
  readonly record: TextRecord | undefined;
  /** As of `edited`. */
  readonly shown?: TextRecord | undefined;
  readonly isDone: boolean;
  readonly isChanged: boolean;
}

/** All edits one after the other, or none where one of them is not done. */
function editedBy(
  edits: readonly ChangingEdit<Text>[],
  before: Parts,
  span: ClockSpan,
  { marked, mostBytes = Infinity }: { readonly marked: number; readonly mostBytes: number | undefined },
): { readonly edits: readonly EditedPart[]; readonly areDone: boolean; readonly after: Parts } {
  const after = new Map(before);
  const now = instantOf(span);
  const made = edits.map((edit): EditedPart => {
    const { part } = placeOf(edit.name);
    const present = after.get(part);
    const beside = PARTS.map((one) => (one === part ? undefined : after.get(one))).find(Boolean);
    const instant = { ...now, wall: wallOf(edit, span) };
    const { next, isDone, shown } = edited(present, widened(edit, widthOf(span)), instant, beside, marked);
    const isChanged = next !== present;
    const record = isChanged && next !== undefined ? closed(fitting(next, mostBytes), span) : present;
    if (next === undefined) after.delete(part);
    else after.set(part, record as TextRecord);
    return { record: next === undefined ? undefined : record, shown, isDone, isChanged };
  });
  const areDone = made.every(({ isDone }) => isDone);
  if (areDone) return { edits: made, areDone, after };
  const none = edits.map(({ name }, i) => ({
    record: before.get(placeOf(name).part),
    shown: made[i]?.shown,
    isDone: false,
    isChanged: false,
  }));
  return { edits: none, areDone, after: before };
}

/**
 * The clock of tokens. The versions of marks are compared with the tokens of loads under other names: a load that began before a mark
 * never has the greater one, however little is known of the clock; nor has one that begins after a mark of this client the lesser one.
 */
function wallOf({ op }: ChangingEdit<Text>, { earliest, latest }: ClockSpan): number {
  return op === 'claim' ? earliest : latest;
}

/** The row of a claim has its text. A holder, also of a lease that it has got before, sees the time that is left for certain. */
function answerTo(
  { op }: ChangingEdit,
  { record, shown = record, isDone }: EditedPart,
  span: ClockSpan,
): Answer {
  const row = shown && rowAt(shown, span, isDone);
  return { isDone, row: row && (op === 'claim' ? row : { ...row, text: '' }) };
}

/**
 * A large text is not sent in vain. A deletion of one part leaves the same text as that of another client, made since the text was
 * seen: it would count as done.
 */
function looksFirst(changes: readonly ChangingEdit[], large: Put | undefined): Step<unknown>['looksFirst'] {
  if (changes.some(({ op }) => op === 'delete')) return 'always';
  return large === undefined ? undefined : 'if unknown';
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
  before: Parts,
  after: Parts,
  adds: LongText | undefined,
  keepForMs: number,
): Omit<Swap, 'before'> {
  const named = idsIn(after);
  const drops = idsIn(before).filter((id) => !named.includes(id));
  return { after: textOf(after), main: mainIn(after), adds, drops, keepForMs };
}

function widthOf({ earliest, latest }: ClockSpan): number {
  return latest - earliest;
}

/** An edit whose durations are as long as asked for, also where the clock is at its latest moment. */
function widened(edit: ChangingEdit<Text>, width: number): ChangingEdit<Text> {
  switch (edit.op) {
    case 'claim':
      return { ...edit, forMs: edit.forMs + width };
    case 'amend':
    case 'impose':
      return { ...edit, forMs: edit.forMs && edit.forMs + width };
    case 'put':
      return { ...edit, pinMs: edit.pinMs && edit.pinMs + width };
    default:
      return edit;
  }
}
