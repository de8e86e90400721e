import { confirmationIn } from '../../../src/cluster/confirmation.ts';
import { lockRow } from '../../../src/records/lock/record-lock.ts';
import { LOCK, REPORT } from '../../../src/records/names.ts';
import type { Amend, Answer, Claim, Edit, Put } from '../../../src/records/records.ts';
import type { Effect } from '../../support/record-effects.ts';
import type { LockRow } from '../../support/records-of-steps.ts';

/** What an instance asks of the backend, and what a swap of its cells does there. */
export type Step =
  | 'acquire'
  | 'extend'
  | 'release'
  | 'impose'
  | 'read'
  | 'write'
  | 'confirm'
  | 'history'
  | 'versions'
  | 'reports';

/** A step, as a member asks for it: it may take several commands, and may share them with others. */
export interface Message {
  readonly step: Step;
  /** The name of the member, or the key; of `versions` all of them. */
  readonly name: string;
  readonly token: number | undefined;
  /** Its records. */
  readonly records: readonly string[];
  /** Of `acquire` and `impose`. */
  readonly requestId?: string;
  /** Of `acquire`: it ignores holds. */
  readonly force?: boolean;
  /** Of `acquire` and `extend`, in milliseconds. */
  readonly leaseFor?: number;
  /** Of `write`, and of `confirm`. */
  readonly payload?: string;
  /** Of `write`: the greater version that it may replace. */
  readonly over?: number | undefined;
  /** Of `write`: the only version that it may replace; 0: none. */
  readonly expected?: number | undefined;
  /** Of `write`: it replaces no pinned version. */
  readonly sparesPinned?: boolean | undefined;
  /** Of `confirm`: the version. */
  readonly version?: number;
  /** The text of a report. */
  readonly report?: string;
  /** Of a report: the id of the instance. */
  readonly instance?: string;
  /** Of `release`. */
  readonly as?: End;
  /** Of `release`: the value that it confirms. */
  readonly confirms?: string | undefined;
  /** Of `release` and `impose`: how long the next round is held back, in milliseconds. */
  readonly holdFor?: number;
}

export type End = 'done' | 'failed' | 'abandoned';

/** It publishes a snapshot, or confirms one. */
export function isWrite(step: Step): boolean {
  return step === 'write' || step === 'confirm';
}

/** The steps of edits that are applied together. A report goes with the first of them. */
export function messagesOf(edits: readonly Edit[]): Message[] {
  const report = edits.find((edit): edit is Put => edit.op === 'put' && edit.name.startsWith(REPORT));
  const checks = edits.filter((edit) => edit.op === 'read' && edit.isBrief);
  const others = edits.filter((edit) => edit !== report && !checks.includes(edit));
  const messages = others.map(messageOf);
  if (checks.length > 0 || messages.length === 0) messages.unshift(checkOf(checks));
  const [first, ...rest] = messages as [Message, ...Message[]];
  return [report === undefined ? first : withReport(first, report), ...rest];
}

function checkOf(reads: readonly Edit[]): Message {
  const names = reads.map(({ name }) => memberOf(name)).join();
  return { step: 'versions', name: names, token: undefined, records: reads.map(({ name }) => name) };
}

function withReport(message: Message, { name, text }: Put): Message {
  const instance = name.slice(name.indexOf('/', REPORT.length) + 1);
  return { ...message, report: text, instance, records: [...message.records, name] };
}

/** The name of the member or the key that a record is of. */
function memberOf(record: string): string {
  return record.slice(record.indexOf('/') + 1);
}

function messageOf(edit: Edit): Message {
  const about = { name: memberOf(edit.name), records: [edit.name] };
  switch (edit.op) {
    case 'claim':
      return { step: 'acquire', ...about, token: undefined, ...requestIn(edit) };
    case 'amend':
      return edit.name.startsWith(LOCK) ? { ...about, ...amendmentIn(edit) } : { ...about, ...noteIn(edit) };
    case 'put':
      return {
        step: 'write',
        ...about,
        token: edit.token,
        payload: edit.text,
        over: edit.over,
        expected: edit.expected,
        sparesPinned: edit.sparesPinned,
      };
    case 'impose': {
      const { id: requestId, forMs: holdFor, note } = edit;
      return { step: 'impose', ...about, token: undefined, requestId, holdFor, ...endIn(note) };
    }
    case 'read':
      return { step: 'read', ...about, token: edit.token };
    case 'delete':
      throw new Error('not simulated');
  }
}

function requestIn({ id, force, forMs }: Claim): Pick<Message, 'requestId' | 'force' | 'leaseFor'> {
  return { requestId: id, force, leaseFor: forMs };
}

function amendmentIn({
  token,
  id: requestId = '',
  phase,
  note,
  forMs,
}: Amend): Omit<Message, 'name' | 'records'> {
  if (phase === undefined) return { step: 'extend', token, requestId, leaseFor: forMs };
  return { step: 'release', token, requestId, holdFor: forMs, ...endIn(note) };
}

/** How a round has ended, in the note of its lock. */
function endIn(note: string = '{}'): { readonly as: End; readonly confirms: string | undefined } {
  const { state, confirms } = JSON.parse(note) as { readonly state: End; readonly confirms?: string };
  return { as: state, confirms };
}

function noteIn({ token: version, note: payload = '' }: Amend): Omit<Message, 'name' | 'records'> {
  const token = confirmationIn(payload, version)?.round || undefined;
  return { step: 'confirm', token, version, payload };
}

/** The effect is that of this message. */
export function isEffectOf({ record, step, after, text }: Effect, message: Message): boolean {
  if (!message.records.includes(record)) return false;
  if (step === 'report') return message.report === text;
  if (step !== message.step) return false;
  switch (step) {
    case 'acquire':
    case 'impose':
      return message.requestId === after.id;
    case 'write':
      return message.payload === text && (message.token ?? after.token) === after.token;
    case 'confirm':
      return message.payload === after.note && message.version === after.token;
    case 'release':
      if (after.unused !== undefined)
        return message.token === after.unused.token && message.as === 'abandoned';
      return message.token === after.token && message.as === endIn(after.note).as;
    case 'extend':
      return message.token === after.token;
  }
}

/** The answer to the edit of a step; `undefined`: it has none of its own. */
export type StepAnswer =
  | LockRow
  | boolean
  | { readonly kind: 'written' | 'refused'; readonly version: number };

/** The answer as a lock or a store gives it. @param now the backend's clock */
export function answerTo(
  { step, name }: Message,
  { isDone, row }: Answer,
  now: number,
): StepAnswer | undefined {
  switch (step) {
    case 'acquire':
      return row && lockRow(name, row, now);
    case 'extend':
    case 'release':
      return isDone;
    case 'read':
    case 'write':
    case 'confirm':
      return row && { kind: isDone ? 'written' : 'refused', version: row.token };
    default:
      return undefined;
  }
}

/** The edit of a message, among those that were applied together. */
export function editOf({ records, step }: Message, edits: readonly Edit[]): number {
  const [record] = records;
  if (step === 'versions') return -1;
  return edits.findIndex(({ name, op }) => name === record && (op === 'read') === (step === 'read'));
}

/** A message as its trace shows it. */
export function wordsOfMessage({ step, name, token }: Message): string {
  return `${step} ${name}${token ? ` ${token}` : ''}`;
}

/** An effect as its trace shows it. */
export function wordsOfEffect({ step, record, after: { token, until } }: Effect): string {
  return `${step} ${record} ${token}${until > 0 ? ` until ${until.toFixed(1)}` : ''}`;
}

/** The answer in a few words: the decisive fields only. */
export function wordsOfAnswer(answer: StepAnswer | undefined): string {
  if (typeof answer !== 'object') return String(answer ?? 'nothing');
  const words = Object.entries(answer).map(([name, value]) => {
    const isNumber = typeof value === 'number' && !Number.isInteger(value);
    return TOLD.includes(name) ? `${name} ${isNumber ? value.toFixed(1) : value}` : '';
  });
  return words.filter((word) => word !== '').join(', ');
}

const TOLD = ['state', 'kind', 'token', 'leaseLeft', 'holdLeft', 'tookOver', 'version'];
