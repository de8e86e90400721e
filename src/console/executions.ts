import { instanceLabels } from '../data/instance-label.ts';
import type {
  ExecutionOutcome,
  ExecutionRecord,
  ExecutorRun,
  Fleet,
  GroupMember,
  Trigger,
} from '../index.ts';
import { shownKey } from './member-access.ts';
import type { Redact } from './redact.ts';
import { instancesOf } from './rows.ts';
import { keyText } from './short-id.ts';
import { shownMessage } from './shown-texts.ts';

/** An execution as operators see it. */
export interface ShownExecution {
  /** The instance, for people; left out: this one. */
  readonly on?: string;
  /** When it began, in epoch milliseconds. */
  readonly startedAt: number;
  /** How long it took, in milliseconds. */
  readonly took: number;
  /** `done`: a task has ended; `absent`: the source does not have the key. */
  readonly outcome: ExecutionOutcome | 'absent' | 'done';
  /** Left out: not known, as of the runs of a task at a backend. */
  readonly trigger?: Trigger;
  /** How many times the load was called; left out: not known. */
  readonly attempts?: number;
  readonly error?: string;
  /** Of a cache. */
  readonly key?: string;
}

/** All that is known of executions beside what this instance remembers. */
interface KnownOfExecutions {
  readonly runs: readonly ExecutorRun[] | undefined;
  readonly fleet: Fleet | undefined;
  readonly now: number;
}

/**
 * The last executions of a member, or of a key of a cache, newest first: those that this instance remembers, and those that
 * others have reported. Of a task whose runs are at a backend all of these, and executions that failed before it was called.
 *
 * @param runs of a task.
 * @param redact hides credentials in the texts.
 */
export function executionsOf(
  member: GroupMember,
  key: readonly [key?: unknown],
  { runs = [], fleet, now }: KnownOfExecutions,
  redact: Redact,
): readonly ShownExecution[] {
  const { kind } = member;
  const isAtBackend = runs.some(({ host }) => host !== undefined);
  const own = member.inspect().executions.filter((one) => key.length === 0 || isOfKey(one, key[0]));
  const elsewhere = key.length === 0 ? reportedOf(member, fleet, now) : [];
  const remembered = [...own.map((one) => ({ ...one, ...keyOf(one, redact) })), ...elsewhere].filter(
    ({ attempts, error }) => !isAtBackend || (attempts === 0 && error !== undefined),
  );
  const shown = remembered.map(
    ({ startedAt, took, outcome, trigger, attempts, error, key: of, ...others }) => ({
      ...('on' in others ? { on: others.on } : {}),
      startedAt,
      took,
      outcome: shownOutcome(outcome, kind, 'isAbsent' in others && others.isAbsent),
      trigger,
      attempts,
      ...(error === undefined ? {} : { error: shownMessage(error, redact) }),
      ...(of === undefined ? {} : { key: of }),
    }),
  );
  const ofBackend = isAtBackend ? runs.map((run) => shownRun(run, redact)) : [];
  return [...ofBackend, ...shown].sort((a, b) => endOf(b) - endOf(a));
}

/** The wall clock has whole milliseconds, and the beginning is computed from the end: within one the order of the log stays. */
function endOf({ startedAt, took }: ShownExecution): number {
  return Math.round(startedAt + took);
}

function shownOutcome(
  outcome: ExecutionOutcome,
  kind: GroupMember['kind'],
  isAbsent: boolean,
): ShownExecution['outcome'] {
  if (outcome !== 'loaded') return outcome;
  return kind === 'executor' ? 'done' : isAbsent ? 'absent' : outcome;
}

function isOfKey({ key }: ExecutionRecord, of: unknown): boolean {
  return Object.is(key, of) || keyText(key) === keyText(of);
}

function keyOf({ key }: ExecutionRecord, redact: Redact): { readonly key: string | undefined } {
  return { key: key === undefined ? undefined : shownKey(key, redact).text };
}

/** Those of other instances. */
function reportedOf({ name }: GroupMember, fleet: Fleet | undefined, now: number) {
  const instances = instancesOf(fleet);
  const labels = instanceLabels(instances);
  return instances
    .filter(({ isHere }) => !isHere)
    .flatMap(({ id, host, members }) => {
      const found = members.find((one) => one.name === name);
      const on = labels.get(id) ?? host;
      return (found?.executions ?? []).map(({ ago, ...one }) => ({ ...one, on, startedAt: now - ago }));
    });
}

function shownRun(
  { startedAt, took, outcome, error, host, instance = '' }: ExecutorRun,
  redact: Redact,
): ShownExecution {
  const process = /^\d+/.exec(instance)?.[0];
  return {
    ...(host === undefined ? {} : { on: process === undefined ? host : `${host} (${process})` }),
    startedAt,
    took,
    outcome: shownOutcome(outcome, 'executor', false),
    ...(error === undefined ? {} : { error: shownMessage(error, redact) }),
  };
}
