import type { ExecutionOutcome, ReportedExecution, Trigger } from '../data/execution-record.ts';
import { showKey } from '../errors.ts';
import type { ExecutionLog } from '../observe/execution-log.ts';
import { isNumber } from '../option-checks.ts';
import { printable } from '../printable.ts';
import { wholeWords } from '../whole-words.ts';

// Executions in the report of an instance: each a list of numbers and texts, the newest first. Only durations travel.

/** In the format: new ones are added at the end. */
const OUTCOMES: readonly ExecutionOutcome[] = [
  'loaded',
  'kept',
  'adopted',
  'failed',
  'refused',
  'timed-out',
  'cancelled',
];
const TRIGGERS: readonly Trigger[] = ['first', 'due', 'forced', 'invalidated'];

/** Instead of an error: that of the execution before it in the list. */
const SAME = 1;

/** In characters. */
const LONGEST_ERROR = 200;

/** Members are reported with their executions for this long after one has failed, in milliseconds. */
const TROUBLE_MS = 24 * 3_600_000;

/** Of a report: how many executions it has, shared among its members with trouble, and how many bytes these may have. */
const MOST = 200;
const LEAST_OF_ONE = 3;
const MOST_OF_ONE = 30;
const MOST_BYTES = 8192;

/** Those of one member as JSON. */
function executionsText(log: ExecutionLog, most: number): string {
  const now = log.now();
  let before: string | undefined;
  const rows = log.newest
    .slice(0, most)
    .map(({ startedAt, took, trigger, outcome, attempts, error, key }) => {
      const ago = Math.max(0, Math.round(now - startedAt));
      const kinds = [OUTCOMES.indexOf(outcome), TRIGGERS.indexOf(trigger), attempts];
      const text = error && printable(wholeWords(error, LONGEST_ERROR), LONGEST_ERROR);
      const said = text === undefined ? 0 : text === before ? SAME : text;
      before = text ?? before;
      return [ago, Math.round(took), ...kinds, said, ...(key === undefined ? [] : [showKey(key)])];
    });
  return JSON.stringify(rows);
}

/**
 * Those of the members of one instance, as far as they are of use and have room: of members of which one has failed in the last 24 h,
 * the last failure first.
 *
 * @param room in bytes. @param bytesOf of a text.
 * @returns by member.
 */
export function executionsOf<Member extends { readonly executions: ExecutionLog }>(
  members: readonly Member[],
  room: number,
  bytesOf: (text: string) => number,
): ReadonlyMap<Member, string> {
  const inTrouble = members
    .map((member) => [member, member.executions.failedAgo] as const)
    .filter(([, ago]) => ago <= TROUBLE_MS)
    .sort(([, a], [, b]) => a - b);
  const most = Math.max(LEAST_OF_ONE, Math.min(MOST_OF_ONE, Math.floor(MOST / inTrouble.length)));
  const texts = new Map<Member, string>();
  let left = Math.min(room, MOST_BYTES);
  for (const [member] of inTrouble.slice(0, MOST / LEAST_OF_ONE)) {
    const text = executionsText(member.executions, most);
    left -= bytesOf(text) + FIELD.length;
    if (left < 0) break;
    texts.set(member, text);
  }
  return texts;
}

/** The beginning of the field in JSON. */
const FIELD = ',"executions":';

/** The JSON of a member with its executions. */
export function withExecutions(member: string, executions: string | undefined): string {
  return executions === undefined ? member : `${member.slice(0, -1)}${FIELD}${executions}}`;
}

/** They come from outside: malformed ones count as missing. @param seenAgo the age of the report. */
export function readExecutions(field: unknown, seenAgo: number): readonly ReportedExecution[] {
  if (!Array.isArray(field)) return [];
  let before: string | undefined;
  return field.slice(0, MOST_OF_ONE).flatMap((row: unknown) => {
    if (!Array.isArray(row)) return [];
    const [ago, took, outcomeAt, triggerAt, attempts, said, key] = row as readonly unknown[];
    const outcome = itemAt(OUTCOMES, outcomeAt);
    const trigger = itemAt(TRIGGERS, triggerAt);
    const areNumbers = [ago, took, attempts].every((one) => isNumber(one, 0, Number.MAX_SAFE_INTEGER));
    if (outcome === undefined || trigger === undefined || !areNumbers) return [];
    const error =
      said === SAME ? before : typeof said === 'string' ? printable(said, LONGEST_ERROR) : undefined;
    before = error ?? before;
    return [
      {
        ago: (ago as number) + seenAgo,
        took: took as number,
        trigger,
        outcome,
        attempts: attempts as number,
        error,
        key: typeof key === 'string' ? printable(key, LONGEST_ERROR) : undefined,
      },
    ];
  });
}

/** Only a number is one: lists have properties such as `length` and `constructor` too. */
function itemAt<T>(list: readonly T[], at: unknown): T | undefined {
  return typeof at === 'number' ? list[at] : undefined;
}
