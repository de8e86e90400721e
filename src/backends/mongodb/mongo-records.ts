import { oneByOne } from '../../cluster/one-by-one.ts';
import { foundBy, type Instant, isDoneIn, rowOf, type StoredRecord } from '../../records/edited.ts';
import type {
  Amend,
  Answer,
  Claim,
  Edit,
  ListedEdition,
  Phase,
  Put,
  Read,
  Records,
  Row,
} from '../../records/records.ts';
import { changeOf } from './changes.ts';
import type { MongoDocument, MongoDocuments } from './documents.ts';
import { editionsPipeline, isRead, listPipeline, pipelineOf, WITHOUT_TEXTS } from './pipelines.ts';

/** The most edits of one call: a server takes 100,000 in one `bulkWrite`. */
const MOST_EDITS = 500;

type Change = Claim | Amend | Put;

/** Records in MongoDB: a document each, which one command changes by a pipeline, at the clock of the primary. */
export class MongoRecords implements Records {
  readonly mostEdits: number;
  readonly sharesCommands: boolean = false;
  readonly #documents: MongoDocuments;
  readonly #retentionMs: number;

  /** @param retentionMs a document is kept for this long after its end, at least. */
  constructor(documents: MongoDocuments, retentionMs: number) {
    this.mostEdits = documents.changesMany ? MOST_EDITS : 1;
    this.#documents = documents;
    this.#retentionMs = retentionMs;
  }

  /** One command for all reads, two for changes; one for each deletion, and for each put without a token. */
  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const reads = edits.filter(({ op }) => op === 'read') as Read[];
    const joined = this.mostEdits === 1 ? [] : (edits.filter(isJoined) as Change[]);
    const isMany = joined.length > 1;
    const clock: Clock = { now: Date.now() }; // unless a document tells it
    const parts: (() => Promise<ReadonlyMap<string, Answer | Error>>)[] = [
      ...(reads.length > 0 ? [() => this.#readAll(reads, clock)] : []),
      ...(isMany ? [() => this.#changeAll(joined, clock)] : []),
      ...edits.flatMap((edit) => {
        if (edit.op === 'read' || (isMany && isJoined(edit))) return [];
        return [async () => new Map([[edit.name, await this.#single(edit, clock)]])];
      }),
    ];
    const found = await oneByOne(parts, (part) => part());
    const answers = new Map(found.flatMap((part) => (part instanceof Error ? [] : [...part])));
    const failed = found.find((part) => part instanceof Error) as Error;
    return { now: clock.now, answers: edits.map(({ name }) => answers.get(name) ?? failed) };
  }

  async #readAll(reads: readonly Read[], clock: Clock): Promise<ReadonlyMap<string, Answer>> {
    const isBrief = reads.every((read) => read.isBrief === true);
    const isPresent = reads.every(({ token }) => token === undefined);
    const hides = { expireAt: 0, ...(isPresent && { older: 0 }), ...(isBrief && { text: 0 }) };
    const wanted = isPresent ? isRead(reads) : { _id: { $in: reads.map(({ name }) => name) } };
    const documents = new Map(
      (await this.#documents.find(pipelineOf(wanted, hides), reads.length)).map((one) => [one._id, one]),
    );
    const answer = (read: Read): Answer => {
      const document = documents.get(read.name);
      const found = document && foundBy(recordIn(document), read);
      const row = document && found && this.#row(found, document, clock, read.isBrief !== true);
      return { isDone: row !== undefined, row };
    };
    return new Map(reads.map((read) => [read.name, answer(read)]));
  }

  async #single(edit: Exclude<Edit, Read>, clock: Clock): Promise<Answer> {
    if (edit.op === 'delete') return { isDone: await this.#documents.delete(edit.name), row: undefined };
    const change = changeOf(edit, this.#retentionMs);
    const hides = edit.op === 'claim' ? { older: 0 } : WITHOUT_TEXTS;
    const changed = await this.#documents.change(change, hides);
    if (changed !== undefined) {
      const { row, isDone } = this.#answerIn(changed, edit, clock);
      return { isDone: edit.op === 'amend' || isDone, row }; // what it may not amend does not match
    }
    const [present] = await this.#documents.find(pipelineOf({ _id: edit.name }, hides));
    return { isDone: false, row: present && this.#row(recordIn(present), present, clock, false) };
  }

  /** The documents are read in a second command: each shows whether its edit was done, unless another one has followed. */
  async #changeAll(changes: readonly Change[], clock: Clock): Promise<ReadonlyMap<string, Answer | Error>> {
    const errors = await this.#documents.changeEach(changes.map((edit) => changeOf(edit, this.#retentionMs)));
    const names = changes.map(({ name }) => name);
    const hides = changes.some(({ op }) => op === 'claim') ? { older: 0 } : WITHOUT_TEXTS;
    const found = await this.#documents.find(pipelineOf({ _id: { $in: names } }, hides), names.length);
    const documents = new Map(found.map((document) => [document._id, document]));
    const answer = (edit: Change): Answer | Error => {
      const document = documents.get(edit.name);
      if (document !== undefined) return this.#answerIn(document, edit, clock);
      return edit.op === 'amend'
        ? { isDone: false, row: undefined }
        : new Error('the document was deleted right after the write');
    };
    return new Map(changes.map((edit) => [edit.name, errors.get(edit.name) ?? answer(edit)]));
  }

  #answerIn(document: MongoDocument, edit: Change, clock: Clock): Answer {
    const row = this.#row(recordIn(document), document, clock, edit.op === 'claim');
    return { isDone: isDoneIn(row, edit), row };
  }

  #row(record: StoredRecord, document: MongoDocument, clock: Clock, isWhole: boolean): Row {
    const at = instantOf(document.askedAt);
    clock.now = at;
    const row = rowOf(record, { at, wall: at }, (text) => (isWhole ? text : ''));
    return typeof row.text === 'string' ? row : { ...row, text: '', damage: row.damage ?? 'text' };
  }

  async list(prefix: string, limit: number): ReturnType<Records['list']> {
    const clock: Clock = { now: Date.now() };
    const found = await this.#documents.find(listPipeline(prefix, limit), limit);
    const rows = found.map(
      (document) => [document._id, this.#row(recordIn(document), document, clock, true)] as const,
    );
    return { now: clock.now, rows };
  }

  async editions(name: string, beginning: number): Promise<ListedEdition[]> {
    const [document] = await this.#documents.find(editionsPipeline(name, beginning));
    if (document === undefined) return [];
    const at = instantOf(document.askedAt);
    const now: Instant = { at, wall: at };
    const record = recordIn(document);
    const bytes = [document, ...(document.older as { bytes: unknown }[])].map((one) => Number(one.bytes));
    return [record, ...record.older].map((edition, i) => ({
      row: rowOf({ ...record, ...edition, changedAt: edition.at }, now, (text) => text ?? ''),
      bytes: bytes[i] as number,
    }));
  }
}

/** The server's clock, as a document tells it. */
interface Clock {
  now: number;
}

/** Whether its effect shows in the document, which is read in another command. Without a token it could be that of the next put. */
function isJoined(edit: Edit): boolean {
  return edit.op === 'claim' || edit.op === 'amend' || (edit.op === 'put' && edit.token !== undefined);
}

/** The driver returns dates as `Date`, and numbers in one of several types; another type is damage. */
function recordIn(document: MongoDocument): StoredRecord {
  const { phase, until, note, replaced, keepMs, older } = document;
  return {
    ...editionIn(document),
    id: document.id as string,
    phase: phase as Phase,
    changedAt: instantOf(document.changedAt),
    until: instantOf(until),
    note: typeof note === 'string' ? note : '',
    replaced: typeof replaced === 'string' ? replaced : undefined,
    keepMs: keepMs === null ? undefined : numberOf(keepMs),
    older: Array.isArray(older) ? older.map(editionIn) : [],
  };
}

function editionIn({ token, at, text }: Readonly<Record<string, unknown>>): StoredRecord['older'][number] {
  return { token: numberOf(token), at: instantOf(at), text: text as string };
}

function numberOf(value: unknown): number {
  return typeof value === 'string' || value === null ? NaN : Number(value);
}

function instantOf(value: unknown): number {
  return value instanceof Date ? value.getTime() : NaN;
}
