import Table from 'cli-table3';
import { firstProblem, isToldBy, linesOf, membersOf, notShared, outagesOf } from '../console/causes.ts';
import type { Detail } from '../console/detail.ts';
import type { LockRow } from '../console/locks.ts';
import type { Overview } from '../console/overview.ts';
import type { HereStatus, MemberRow } from '../console/rows.ts';
import type { ShownDifference } from '../console/shown-value.ts';
import {
  counted,
  countsText,
  executionText,
  grouped,
  instancesText,
  levelText,
  stateText,
} from '../console/words.ts';
import { holderLabels } from '../data/instance-label.ts';
import { makerText, type VersionRecord } from '../data/version-record.ts';
import { printable } from '../printable.ts';
import { showDuration } from '../time/show-duration.ts';

/** In characters. */
const LONGEST_CELL = 120;

/** That of a problem, the last cell of its line: the cause is at the end of a message. */
const LONGEST_PROBLEM = 240;

/** That of a cell which has a line of its own. */
const LONGEST_ERROR = 1000;

const EDGES = ['top', 'bottom'].flatMap((edge) => ['', '-mid', '-left', '-right'].map((end) => edge + end));
const NO_LINES = Object.fromEntries(
  [...EDGES, 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'].map((part) => [part, '']),
);

/** Rows for people: plain text in columns, which a script can cut too. */
function tableOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  longest: number = LONGEST_CELL,
): string {
  const table = new Table({
    head: [...head],
    chars: { ...NO_LINES, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  });
  for (const row of rows) table.push(row.map((cell) => printable(cell, longest)));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** The fleet and its problems. @param isAll also the members without a problem. */
export function statusText(
  { group, ok, at, instances, members, fleetError }: Overview,
  isAll: boolean,
): string {
  const shown = isAll ? members : members.filter(({ level }) => level !== 'ok');
  const fine = members.length - members.filter(({ level }) => level !== 'ok').length;
  const lines = isAll ? membersOf(shown) : linesOf(shown, new Set());
  const byId = new Map(shown.map((row) => [row.id, row]));
  const rows = lines.map((line) => {
    if (line.kind === 'cause') {
      const { level, count, cause, since } = line;
      return [
        levelText(level, count),
        counted(count, 'member'),
        '',
        '',
        '',
        failing(since, at, cause, level),
      ];
    }
    const row = byId.get(line.id) as MemberRow;
    return [
      levelText(row.level, 2),
      row.name,
      stateText(row),
      ageOf(row.here, at),
      onOf(row),
      problemOf(row, at),
    ];
  });
  const isReady = !members.some(isMissing);
  const outages = outagesOf(members);
  const alone = fleetError === undefined ? ['this instance only'] : [];
  const head = [
    ok ? (isReady ? 'reads are served' : 'not ready') : 'reads fail',
    counted(members.length, 'member'),
    ...(instances.length === 0 ? alone : [instancesText(instances)]),
  ];
  return [
    `${printable(group.name, 80)}: ${head.join(', ')}`,
    ...outages.map((outage) => `loads are not shared: ${printable(outage, 300)}`),
    ...(fleetError === undefined
      ? []
      : [`other instances are not known: ${unknownFleet(fleetError, outages)}`]),
    ...(rows.length === 0
      ? []
      : ['', tableOf(['LEVEL', 'MEMBER', 'HERE', 'AGE', 'NEWEST ON', 'PROBLEM'], rows, LONGEST_PROBLEM)]),
    ...(isAll || (fine === 0 && lines.length === shown.length)
      ? []
      : ['', `${grouped(fine)} without a problem (--all lists each member)`]),
    ...(shown.some(hasRefusedValue)
      ? ['', 'A value was refused: npx tickless refresh --force <member> shows what it changes, and asks']
      : []),
  ].join('\n');
}

/** Why other instances are not known, unless the status has the outage already. */
function unknownFleet(error: string, outages: readonly string[]): string {
  return isToldBy(outages, error) ? 'their reports are at that backend' : printable(error, 200);
}

/** On any instance. */
function hasRefusedValue({ here, problems }: MemberRow): boolean {
  return here.refused !== undefined || problems.some(({ kind }) => kind === 'refused');
}

/** A required member has no value yet. */
function isMissing({ problems }: MemberRow): boolean {
  return problems.some(({ kind }) => kind === 'not-loaded');
}

/** Reads are refused, or a required member has no value yet. */
export function isUnfit({ members }: Pick<Overview, 'members'>): boolean {
  return members.some((row) => row.level === 'bad' || isMissing(row));
}

export function locksText(records: readonly LockRow[]): string {
  if (records.length === 0) return 'no records';
  const holders = holderLabels(records);
  const rows = records.map((record) => {
    const { name, state, host, owner, token, acquiredAgo, tookOver, lastError } = record;
    return [
      name,
      state === 'running' && record.leaseLeft === 0 ? 'expired' : state,
      holders.get(owner) ?? host,
      `${showDuration(acquiredAgo)} ago${tookOver ? ', took over' : ''}`,
      String(token),
      leftOf(record),
      lastError ?? '-',
    ];
  });
  return tableOf(['LOCK', 'STATE', 'HOLDER', 'SINCE', 'TOKEN', 'LEFT', 'LAST ERROR'], rows);
}

function leftOf({ leaseLeft, holdLeft }: LockRow): string {
  if (leaseLeft > 0) return `lease ${showDuration(leaseLeft)}`;
  return holdLeft > 0 ? `next in ${showDuration(holdLeft)}` : '-';
}

export function historyText(history: readonly VersionRecord[]): string {
  if (history.length === 0) return 'no versions: it has no backend, or nothing was published yet';
  const rows = history.map(({ version, age, bytes, note, isPinned, mark, damage, ...maker }) => [
    String(version),
    `${showDuration(age)} ago`,
    `${bytes} B`,
    makerText(maker),
    [isPinned ? 'pinned' : '', mark ?? '', damage === undefined ? '' : 'damaged', note ?? '']
      .filter(Boolean)
      .join(', '),
  ]);
  return tableOf(['VERSION', 'PUBLISHED', 'SIZE', 'BY', 'NOTE'], rows);
}

/** The last executions of a member on all instances. @param at the clock of the instance that answers. */
export function executionsText({ at, executions, key, kind }: Detail): string {
  if (executions.length === 0) return 'no execution has ended yet';
  const hasKeys = kind === 'cache' && key === undefined;
  const rows = executions.map((one) => [
    agoOf(one.startedAt, at),
    one.on ?? 'this instance',
    showDuration(one.took),
    one.trigger ?? '-',
    executionText(one),
    ...(hasKeys ? [one.key ?? '-'] : []),
    one.error ?? '-',
  ]);
  return tableOf(['BEGAN', 'ON', 'TOOK', 'TRIGGER', 'OUTCOME', ...(hasKeys ? ['KEY'] : []), 'ERROR'], rows);
}

/** Of each kind of change, in rows. */
const MOST_CHANGES = 5;

/**
 * A member, or a key of a cache, on the instance that answers.
 *
 * @param problems of the member: those that its own errors do not say are shown too.
 */
export function stateOfMember(
  label: string,
  { at, here, error, checks, historyError = checks?.error, lockError = historyError }: Detail,
  problems: MemberRow['problems'] = [],
): string {
  const { loadedAt, failingSince, pinned, version, nextAt } = here;
  const rows = [
    ['state', stateText({ here })],
    ...(loadedAt === undefined ? [] : [['age', ageOf(here, at)]]),
    ...(version === undefined ? [] : [['version', String(version)]]),
    ...(failingSince === undefined ? [] : [['failing since', agoOf(failingSince, at)]]),
    ...(error === undefined ? [] : [['error', error.message]]),
    ...problems
      .filter(({ kind, cause }) => cause === undefined || kind === 'failing-elsewhere')
      .map(({ message, since }) => [
        'problem',
        since === undefined ? message : `since ${agoOf(since, at)}: ${message}`,
      ]),
    ...(lockError === undefined ? [] : [['backend', lockError]]),
    ...(nextAt === undefined ? [] : [['next load', nextAt > at ? `in ${showDuration(nextAt - at)}` : 'due']]),
    ...(pinned === undefined ? [] : [['pinned by', pinned.by + (pinned.note ? `: ${pinned.note}` : '')]]),
  ] as const;
  return tableOf(['MEMBER', label], rows, LONGEST_ERROR);
}

/** A refused value beside the one in place, and what it would change. */
export function refusedText({ at, here, refused }: Detail): string {
  if (refused === undefined) return 'no value is refused here';
  const { reason, since, size, difference } = refused;
  const rows = [
    ['refused because', reason],
    ['since', agoOf(since, at)],
    ...(size === undefined ? [] : [['size', grouped(size)]]),
    [
      'in place',
      here.loadedAt === undefined ? 'no value' : `${here.state}, loaded ${agoOf(here.loadedAt, at)}`,
    ],
    ...(difference === undefined ? [] : [['changes', countsText(difference)]]),
  ];
  const table = tableOf(['REFUSED VALUE', ''], rows);
  const { parts = [] } = difference ?? {};
  return parts.length === 0 ? table : `${table}\n\n${changesText(parts)}`;
}

/** Samples of the changes, as far as the console shows values. */
function changesText(parts: ShownDifference['parts']): string {
  const kinds = {
    added: parts.filter(({ before }) => before === undefined),
    removed: parts.filter(({ after }) => after === undefined),
    changed: parts.filter(({ before, after }) => before !== undefined && after !== undefined),
  };
  const rows = Object.entries(kinds).flatMap(([kind, some]) =>
    some.slice(0, MOST_CHANGES).map(({ id, before = '-', after = '-' }) => [kind, id, before, after]),
  );
  return tableOf(['CHANGE', 'PART', 'IN PLACE', 'REFUSED'], rows);
}

function agoOf(instant: number, at: number): string {
  return `${showDuration(Math.max(0, at - instant))} ago`;
}

function ageOf({ loadedAt, maxStaleness }: HereStatus, at: number): string {
  if (loadedAt === undefined) return '-';
  const age = showDuration(Math.max(0, at - loadedAt));
  return maxStaleness === undefined ? age : `${age} of ${showDuration(maxStaleness)}`;
}

function onOf({ fleet }: MemberRow): string {
  return fleet?.version === undefined ? '-' : `${fleet.holding} of ${fleet.of}`; // a task has none, nor has a cache without marks
}

function problemOf(row: MemberRow, at: number): string {
  const { here, level } = row;
  const { first, others } = firstProblem(row);
  if (first === undefined) return '-';
  if (level === 'unshared') return notShared(row);
  const { kind, cause, message } = first;
  const since = first.since ?? (cause === undefined ? undefined : here.failingSince);
  // That the loads fail is what the time says already.
  const text = failing(
    since,
    at,
    kind === 'failing' && since !== undefined ? (cause ?? message) : message,
    level,
  );
  if (others === 0) return text;
  const more = ` (and ${others} more)`;
  return printable(text, LONGEST_PROBLEM - more.length) + more;
}

/** @param since `undefined`: not known. */
function failing(since: number | undefined, at: number, text: string, level: MemberRow['level']): string {
  return since === undefined
    ? text
    : `${level === 'backup' ? '' : 'failing '}since ${agoOf(since, at)}: ${text}`;
}
