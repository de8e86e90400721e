import { bytesOf } from '../../cluster/history.ts';
import { oneByOne } from '../../cluster/one-by-one.ts';
import { OptionChecks } from '../../option-checks.ts';
import { edited, foundBy, isExpired, rowOf, type StoredRecord } from '../../records/edited.ts';
import { LOCK, nameAt, placeOf, REPORT, SNAPSHOT } from '../../records/names.ts';
import type { Answer, Edit, ListedEdition, Put, Read, Records, Row } from '../../records/records.ts';
import { RETENTION } from '../../records/records-kind.ts';
import type { DurationLike } from '../../time/duration.ts';
import { Semaphore } from '../../time/semaphore.ts';
import { recordOf, type Text } from './file-state.ts';
import { MachineClock, type Moment } from './machine-clock.ts';
import { type Durability, type FileOptions, NumberedFiles } from './numbered-files.ts';
import { type Present, RecordFolder } from './record-folder.ts';
import { Sweep, type Visited } from './sweep.ts';

/** Shorter texts are in the record itself, so that a read is one file. In bytes of UTF-8. */
const MOST_INLINE = 3000;

/** Of the names of all records. */
const BEGINNINGS = [LOCK, SNAPSHOT, REPORT];

/** Edits that depend on the other part of the name. */
const BESIDE: ReadonlySet<Edit['op']> = new Set<Edit['op']>(['claim', 'put', 'impose']);

/** How many names `list` reads at a time. */
const READ_CONCURRENCY = 32;

/** The options of records in files. */
export interface FileRecordsOptions extends FileOptions {
  readonly retention?: DurationLike | undefined;
}

/** `undefined`: there is none. */
type TextRecord = StoredRecord<Text> | undefined;

/** Records in the files of a directory: an edit reads the record of a name, and replaces it unless another process was faster. */
export class FileRecords implements Records {
  readonly mostEdits: number = 1;
  readonly sharesCommands: boolean = true;
  readonly #files: NumberedFiles;
  readonly #clock: MachineClock = new MachineClock();
  readonly #retentionMs: number;
  readonly #sweep: Sweep;
  /** Puts without a token compete for the next state, and all but one begin again. */
  readonly #unfenced: Semaphore = new Semaphore(1);

  /** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
  constructor(options: FileRecordsOptions) {
    const { retention = RETENTION } = options ?? ({} as FileRecordsOptions);
    const checks = new OptionChecks('backend');
    this.#retentionMs = checks.duration('retention', retention);
    checks.done();
    this.#files = new NumberedFiles(options);
    const folders = async () => (await this.#files.folders(BEGINNINGS)).map(({ folder }) => folder);
    this.#sweep = new Sweep(folders, (folder) => this.#forget(folder), this.#retentionMs);
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    /** The last change of each name. */
    const changes = new Map<string, Promise<Answer>>();
    const answers = await oneByOne(edits, (edit) => {
      const { cell } = placeOf(edit.name);
      const answer = this.#answerAfter(changes.get(cell), edit);
      if (edit.op !== 'read') changes.set(cell, answer);
      return answer;
    });
    return { now: this.#clock.now().wall, answers };
  }

  /** @param change one of the same name, which comes before. */
  async #answerAfter(change: Promise<Answer> | undefined, edit: Edit): Promise<Answer> {
    const before = await change;
    const isMade = before?.isDone !== false;
    if (edit.op === 'read')
      return this.#answer({ ...edit, isBrief: edit.isBrief || (isMade && change !== undefined) });
    if (!isMade) return { isDone: false, row: undefined };
    return this.#answer(edit);
  }

  /** The other part of a name, where the edit depends on that. */
  async #beside({ op, name }: Edit): Promise<TextRecord> {
    const { cell, part } = placeOf(name);
    if (!BESIDE.has(op) || cell === name) return undefined;
    const other = nameAt(cell, part === 'lock' ? 'snapshot' : 'lock');
    return (await this.#folder(this.#pathOf(other)).read())?.record;
  }

  async #answer(edit: Edit): Promise<Answer> {
    if (edit.op === 'read') {
      const find = (record: TextRecord): TextRecord => foundBy(record, edit);
      const found = await this.#look(this.#pathOf(edit.name), find, edit.isBrief);
      return { isDone: found !== undefined, row: found?.row };
    }
    const change = (): Promise<Answer> => this.#change(edit);
    return edit.op === 'put' && edit.token === undefined ? this.#unfenced.run(change) : change();
  }

  #pathOf(name: string): string {
    return this.#files.folderOf(name);
  }

  #folder(path: string): RecordFolder {
    return new RecordFolder(this.#files, this.#clock, path);
  }

  /** The row of the record in a folder, or of the edition of it that is looked for, with its text. */
  async #look(
    path: string,
    find: (record: TextRecord, now: Moment) => TextRecord,
    isBrief: boolean = false,
  ): Promise<{ readonly name: string; readonly row: Row } | undefined> {
    const folder = this.#folder(path);
    for (let seen = -1; ; ) {
      const present = await folder.read();
      const found = present && find(present.record, present.now);
      if (present === undefined || found === undefined) return undefined;
      const { name, record, now, head } = present;
      const edition = found === record ? found : recordOf(found);
      const row = rowOf(edition, now, blank);
      if (row.damage !== undefined) return { name, row: { ...row, place: folder.placeOf(present) } };
      const text = isBrief ? '' : await folder.textIn(edition.text);
      if (text !== undefined) return { name, row: { ...row, text } };
      const place = folder.placeOf(present, edition.text);
      if (head.number === seen) return { name, row: { ...row, damage: 'text', place } };
      seen = head.number; // deleted by a later put, or by hand
    }
  }

  async #change(edit: Exclude<Edit, Read>): Promise<Answer> {
    const { op, name } = edit;
    const folder = this.#folder(this.#pathOf(name));
    for (;;) {
      const present = await folder.read();
      if (present === undefined) {
        if (op === 'amend' || op === 'delete') return { isDone: false, row: undefined };
        await folder.begin(name);
        continue;
      }
      const record = withToken(present, edit);
      const drawn = op === 'put' ? { ...edit, text: await textOf(folder, edit, record) } : edit;
      const beside = await this.#beside(edit); // a pin ends the lease after it: this record is another one then
      const { next: made, isDone, shown } = edited<Text>(record, drawn, present.now, beside);
      const next = withDamage(made, present);
      if (next !== record) {
        const text = op === 'put' && next?.text === NEW_FILE ? edit.text : undefined;
        if (!(await folder.replace(name, present, next ?? null, survives(edit), text))) continue;
        this.#sweep.step(next?.keepMs !== undefined);
      }
      // A lease is over if this process was paused meanwhile.
      const answer = shown ?? next;
      return { isDone, row: answer && rowOf(answer, this.#clock.now(), op === 'claim' ? inline : blank) };
    }
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const folders = await this.#files.folders([prefix]);
    const sorted = folders
      .filter(({ name }) => name === undefined || name.startsWith(prefix))
      .sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)); // first the folders whose name is only in their file
    const unknown = sorted.filter(({ name }) => name === undefined).length;
    const find = (record: TextRecord, { at }: Moment): TextRecord =>
      record !== undefined && !isExpired(record, at) ? record : undefined;
    const rows: (readonly [string, Row])[] = [];
    for (let i = 0; i < sorted.length && rows.length < limit + unknown; i += READ_CONCURRENCY) {
      const some = sorted.slice(i, i + READ_CONCURRENCY);
      const found = await Promise.all(some.map(({ folder }) => this.#look(folder, find)));
      for (const one of found) if (one?.name.startsWith(prefix) === true) rows.push([one.name, one.row]);
    }
    const { wall } = this.#clock.now();
    return { now: wall, rows: rows.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit) };
  }

  /** A text that is missing may be that of a put meanwhile. */
  async editions(name: string, beginning: number): Promise<ListedEdition[]> {
    const editions = await this.#editions(name, beginning);
    return editions.some(({ row }) => row.damage === 'text') ? this.#editions(name, beginning) : editions;
  }

  async #editions(name: string, beginning: number): Promise<ListedEdition[]> {
    const folder = this.#folder(this.#pathOf(name));
    const { record, now } = (await folder.read()) ?? {};
    if (record === undefined || now === undefined) return [];
    const editions = [record, ...record.older.map(recordOf)].map(async (edition): Promise<ListedEdition> => {
      const row = rowOf(edition, now, blank);
      const bytes = typeof edition.text === 'string' ? bytesOf(edition.text) : edition.text.bytes;
      const text = await folder.textIn(edition.text, beginning);
      if (text === undefined) return { row: { ...row, damage: row.damage ?? 'text' }, bytes };
      return { row: { ...row, text: text.slice(0, beginning) }, bytes };
    });
    return Promise.all(editions);
  }

  /** Deletes a record that was not used for the retention. */
  async #forget(path: string): Promise<Visited> {
    const folder = this.#folder(path);
    const present = await folder.read();
    if (present === undefined) return folder.tidyEmpty();
    const { name, record, now } = present;
    if (record === undefined) {
      if (!(await folder.isAbandoned(present))) return 'kept';
      await folder.clear(present); // the process that has deleted it was killed
      return 'deleted';
    }
    const { keepMs = Infinity } = record;
    const least = Math.min(this.#retentionMs, keepMs);
    // One that can't be read is kept for ever: it was edited by hand, or is not ours.
    if (!isExpired({ ...record, keepMs: least }, now.at)) return least < this.#retentionMs ? 'brief' : 'kept';
    return (await folder.replace(name, present, null, 'kill')) ? 'deleted' : 'kept';
  }
}

/** In place of a text that is written into a file of its own, if the put is done. */
const NEW_FILE: Text = { file: '', bytes: 0 };

/** How the text of a put is kept. Put again, it is the one that is there. */
async function textOf(
  folder: RecordFolder,
  { text, token, expected, keepMs, older }: Put,
  record: TextRecord,
): Promise<Text> {
  const isAgain =
    record !== undefined && (expected === undefined ? record.token === token : record.token !== expected);
  if (isAgain && (await folder.textIn(record.text)) === text) return record.text;
  const isAlone = older === 0 || keepMs !== undefined; // one of many editions is not read with the others
  return isAlone && Buffer.byteLength(text) <= MOST_INLINE ? text : NEW_FILE;
}

/**
 * The record that an edit changes, where the present one can't be read. A put with a token is refused by the readable one before
 * it. Other edits get a greater token than the unreadable one can have: each state may have been one more.
 */
function withToken({ record, tokensBefore, head }: Present, edit: Edit): TextRecord {
  if (record === undefined || tokensBefore === undefined) return record;
  const isFenced = edit.op === 'put' && edit.token !== undefined;
  const [last = 0] = tokensBefore;
  const token = isFenced ? last : Math.max(0, ...tokensBefore) + head.listing.numbers.length;
  return { ...record, token, keepMs: 0 };
}

/** A lease that has replaced an unreadable record names what could not be read. */
function withDamage(next: TextRecord, { unreadable }: Present): TextRecord {
  return next?.replaced === undefined || unreadable === undefined ? next : { ...next, replaced: unreadable };
}

/**
 * A power failure ends all leases, and a lost hold costs one load. But tokens have to grow, whatever the clock of the machine
 * shows after it, and a snapshot is of use after it.
 */
function survives(edit: Edit): Durability {
  if (edit.op === 'put') return edit.name.startsWith(REPORT) ? 'kill' : 'power failure';
  const isLease = edit.op === 'claim' || (edit.op === 'amend' && edit.phase === undefined);
  return isLease ? 'power failure' : 'kill';
}

/** A text that is in the record itself. */
function inline(text: Text): string {
  return typeof text === 'string' ? text : '';
}

function blank(): string {
  return '';
}
