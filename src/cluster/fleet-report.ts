import type { FleetInstance, ReportedMember } from '../data/fleet.ts';
import { failureText } from '../errors.ts';
import type { ExecutionLog } from '../observe/execution-log.ts';
import { isNumber } from '../option-checks.ts';
import { isPlainObject } from '../plain-object.ts';
import { printable } from '../printable.ts';
import { wholeWords } from '../whole-words.ts';
import { bytesOf } from './history.ts';
import { executionsOf, readExecutions, withExecutions } from './reported-executions.ts';
import { LONGEST_REPORT, type StoredReport } from './store-contract.ts';

// The report of an instance in the store, as text. Only durations travel: clocks may be wrong.

/** The version of the format. */
const FORMAT = 1;

const MOST_MEMBERS = 200;

/** Of each text in a report, in characters. Names may be longer. */
const LONGEST_TEXT = 200;

/** A member as its own instance knows it. */
export interface OwnMember extends Omit<ReportedMember, 'executions'> {
  readonly executions: ExecutionLog;
}

/** A report to be left. */
export interface WrittenReport {
  readonly text: string;
  /** The text without what changes by itself. */
  readonly fingerprint: string;
}

/**
 * The report of an instance, which is idle when that is older than it `lasts` (milliseconds). Members beyond the bounds are left out: first those that have no value, then those with the
 * oldest ones, so that a version which is new on an instance is in its report. Those with a problem are in it before all.
 */
export function reportOf(
  { host, upFor, lasts }: Pick<FleetInstance, 'host' | 'upFor'> & { readonly lasts: number },
  members: readonly OwnMember[],
): WrittenReport {
  const ranked = members.map((member) => [rankOf(member), member] as const).sort(([a], [b]) => a - b);
  const kept: { readonly member: OwnMember; readonly text: string }[] = [];
  const fingerprints: string[] = [];
  const head = JSON.stringify({
    tickless: FORMAT,
    host: shortened(host),
    upFor: Math.round(upFor),
    lasts: Math.round(lasts),
  });
  const tail = (leftOut: number): string => `,"leftOut":${leftOut},"members":[`;
  let room = LONGEST_REPORT - bytesOf(`${head}${tail(members.length)}]`);
  for (const [, member] of ranked) {
    if (kept.length === MOST_MEMBERS) break;
    const text = JSON.stringify(member, compactField);
    const bytes = bytesOf(text) + 1;
    if (bytes > room) continue;
    room -= bytes;
    kept.push({ member, text });
    fingerprints.push(JSON.stringify(member, stableField));
  }
  const leftOut = tail(members.length - kept.length);
  const executions = executionsOf(
    kept.map(({ member }) => member),
    room,
    bytesOf,
  );
  const texts = kept.map(({ member, text }) => withExecutions(text, executions.get(member)));
  return {
    text: `${head.slice(0, -1)}${leftOut}${texts.join(',')}]}`,
    fingerprint: `${leftOut}${fingerprints.join(',')}`,
  };
}

function rankOf({ age = Infinity, failures, refused, pinned }: OwnMember): number {
  return failures > 0 || refused !== undefined || pinned !== undefined ? -1 : Math.min(age, Number.MAX_VALUE);
}

/** For JSON: without what `readReport` assumes, and executions, which have the room that is left; ages in whole milliseconds, texts bounded. */
function compactField(field: string, value: unknown): unknown {
  if (field === 'executions') return undefined;
  if ((field === 'failures' && value === 0) || (field === 'kind' && value === 'value')) return undefined;
  if (typeof value === 'number') return Math.round(value);
  return typeof value === 'string' && field !== 'name' ? shortened(value) : value;
}

function stableField(field: string, value: unknown): unknown {
  if (field === 'for') return undefined;
  return field === 'age' && value !== undefined ? 0 : compactField(field, value);
}

/**
 * The instance that has left a report; `undefined`: it is not a report of this format. It comes from outside: fields of a wrong
 * type count as missing, texts are made printable.
 *
 * @param of the ids of the only members to be read. @default all
 */
export function readReport(
  { instance, text, age }: StoredReport,
  of?: ReadonlySet<string>,
): FleetInstance | undefined {
  const report = parsed(text);
  if (report === undefined) return undefined;
  const { host, upFor, lasts, leftOut, members } = report;
  if (typeof host !== 'string' || !Array.isArray(members)) return undefined;
  const seenAgo = durationIn(age) ?? 0;
  return {
    id: shortened(instance),
    host: shortened(host),
    upFor: (durationIn(upFor) ?? 0) + seenAgo,
    seenAgo,
    ...(seenAgo > (durationIn(lasts) ?? Infinity) ? { isIdle: true as const } : {}),
    leftOut: countIn(leftOut),
    members: members.slice(0, MOST_MEMBERS).flatMap((member) => memberIn(member, seenAgo, of)),
  };
}

/** The error of a failed load as reports show it. */
export function reasonIn(error: Error): string {
  return shortened(wholeWords(failureText(error), LONGEST_TEXT));
}

function parsed(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== 'string' || text.length > LONGEST_REPORT) return undefined;
  try {
    const report: unknown = JSON.parse(text);
    return isPlainObject(report) && report.tickless === FORMAT ? report : undefined;
  } catch {
    return undefined;
  }
}

function memberIn(member: unknown, seenAgo: number, of: ReadonlySet<string> | undefined): ReportedMember[] {
  const { name, kind, version, takingOver, age, failures, error, pinned, refused, ...rest } =
    fieldsOf(member);
  if (typeof name !== 'string') return [];
  if (of?.has(name) === false) return [];
  const aged = durationIn(age);
  const { by, note } = fieldsOf(pinned);
  const { reason, for: refusedFor } = fieldsOf(refused);
  const pin = typeof by === 'string' ? { by: shortened(by), note: textIn(note) } : undefined;
  const refusal = { reason: textIn(reason) ?? '', for: (durationIn(refusedFor) ?? 0) + seenAgo };
  const executions = readExecutions(rest.executions, seenAgo);
  const reported: ReportedMember = {
    name: printable(name),
    kind: kind === 'cache' || kind === 'executor' ? kind : 'value',
    version: countIn(version) || undefined,
    takingOver: takingOver === 0 ? 0 : countIn(takingOver) || undefined,
    age: aged === undefined ? undefined : aged + seenAgo,
    failures: countIn(failures),
    error: textIn(error),
    pinned: pin,
    refused: typeof reason === 'string' ? refusal : undefined,
    ...(executions.length === 0 ? {} : { executions }),
  };
  return [reported];
}

function fieldsOf(object: unknown): Record<string, unknown> {
  return isPlainObject(object) ? object : {};
}

function countIn(field: unknown): number {
  return Number.isSafeInteger(field) && Number(field) > 0 ? Number(field) : 0;
}

function durationIn(field: unknown): number | undefined {
  return isNumber(field, 0, Number.MAX_SAFE_INTEGER) ? Number(field) : undefined;
}

function textIn(field: unknown): string | undefined {
  return typeof field === 'string' ? shortened(field) : undefined;
}

function shortened(text: string): string {
  return printable(text, LONGEST_TEXT);
}
