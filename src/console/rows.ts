import { isOfBackup } from '../data/backup.ts';
import type { FleetInstance, InstanceName, ReportedMember } from '../data/fleet.ts';
import { instanceLabels } from '../data/instance-label.ts';
import { failureText } from '../errors.ts';
import type {
  CacheStatus,
  ExecutionStatus,
  Fleet,
  GroupMember,
  HealthProblem,
  ValueStatus,
} from '../index.ts';
import { memberId } from './member-access.ts';
import type { ShowMessage } from './shown-texts.ts';

/** How much a member wants the attention of an operator; the first ones are listed first. */
export const LEVELS = ['bad', 'warn', 'backup', 'unshared', 'note', 'ok'] as const;
export type Level = (typeof LEVELS)[number];

/** An instance, a column of the matrix. */
export interface InstanceColumn {
  readonly id: string;
  readonly host: string;
  /** The host, and the process where several instances run on it. */
  readonly label: string;
  /** The one that answers. */
  readonly isHere: boolean;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** When it was last heard of, in epoch milliseconds. */
  readonly seenAt: number;
  /** Nothing has read it for longer than its report lasts; left out: it is live. */
  readonly isIdle?: true;
  /** How many of its members are not in its report. */
  readonly leftOut: number;
}

/** A member on one instance, by the last report of that. */
export interface Cell {
  /** The id of the instance. */
  readonly on: string;
  readonly version?: number;
  /** Epoch milliseconds. */
  readonly loadedAt?: number;
  /** It has an older version than another instance. */
  readonly behind?: true;
  readonly failures?: number;
  readonly error?: string;
  readonly pinnedBy?: string;
  readonly refused?: string;
}

/** A member on this instance. Fields that do not apply are left out. */
export interface HereStatus {
  readonly state: 'fresh' | 'stale' | 'too-stale' | 'empty' | 'absent' | 'done' | 'due' | 'keys';
  /** A read now would be refused. */
  readonly refusesReads?: true;
  readonly running?: true;
  /** When that load began, in epoch milliseconds. */
  readonly runningSince?: number;
  readonly paused?: true;
  readonly closed?: true;
  /** Epoch milliseconds. */
  readonly loadedAt?: number;
  /** When the next load may start, in epoch milliseconds; left out: at once, or never by itself. */
  readonly nextAt?: number;
  /** The limit of the age in milliseconds; left out: none. */
  readonly maxStaleness?: number;
  readonly failures?: number;
  /** How many of its values a backup of `firstOf` has made; left out: none. */
  readonly backups?: number;
  /** When the first of them ended, in epoch milliseconds. */
  readonly failingSince?: number;
  readonly error?: string;
  readonly version?: number;
  /** This instance holds the lease. */
  readonly isHolder?: true;
  /** The pin of an operator. */
  readonly pinned?: { readonly by: string; readonly note?: string | undefined; readonly until?: number };
  /** Why the last loaded value was refused. */
  readonly refused?: string;
  /** Of a cache: how many values it has, and how many keys have a load under way. */
  readonly size?: number;
  readonly loading?: number;
}

/** A problem as `health()` of the group reports it; but `not-loaded` is fatal only where the load has failed. */
interface RowProblem {
  readonly kind: HealthProblem['kind'] | 'behind' | 'refused' | 'failing-elsewhere';
  readonly isFatal: boolean;
  readonly message: string;
  /** The error behind it, without the name of the member: several members have one cause. Left out: there is none. */
  readonly cause?: string;
  /** Since when, in epoch milliseconds: of a backup in use. Its message is without it. */
  readonly since?: number;
}

/** A member, a row of the matrix. */
export interface MemberRow {
  /** Names it in the API. */
  readonly id: string;
  readonly name: string;
  readonly kind: GroupMember['kind'];
  readonly level: Level;
  readonly problems: readonly RowProblem[];
  readonly here: HereStatus;
  /** On how many instances it is, and how many of these have the newest version; left out: it is not in the fleet. */
  readonly fleet?: { readonly of: number; readonly holding: number; readonly version?: number };
  readonly cells: readonly Cell[];
}

type Status = ExecutionStatus | ValueStatus<unknown> | CacheStatus;

/** Makes the row of a member from its status and its problems. Pure. @param show makes messages as operators see them. */
export function rowMaker(
  fleet: Fleet | undefined,
  now: number,
  show: ShowMessage,
): (member: GroupMember, status: object, problems: readonly HealthProblem[]) => MemberRow {
  const reports = reportsOf(fleet);
  const lines = new Map(fleet?.members.map((member) => [member.name, member]));
  const labels = instanceLabels(instancesOf(fleet));
  const own = instancesOf(fleet).find(({ isHere }) => isHere)?.id;
  return (member, status, problems) => {
    const { name, kind } = member;
    const line = lines.get(member.name);
    const here = hereOf(kind, status as Status, now, show);
    const found = problems.map((problem) => ({
      kind: problem.kind,
      isFatal: problem.isFatal && !waitsForFirstLoad(problem, here),
      ...messageOf(problem, show),
      ...(problem.error instanceof Error ? { cause: show(failureText(problem.error)) } : {}),
    }));
    const elsewhere =
      line === undefined ? [] : elsewhereOf(withoutHere(line, own), here, found, labels, show);
    const all: readonly RowProblem[] = [...found, ...elsewhere];
    return {
      id: memberId(member),
      name,
      kind,
      level: levelOf(all, here, line?.pinned.length ?? 0),
      problems: all,
      here,
      ...(line === undefined ? {} : { fleet: countsOf(line) }),
      cells: (reports.get(member.name) ?? []).map((report) => cellOf(report, line?.version, now, show)),
    };
  };
}

/** Its reads would wait, and not fail. */
function waitsForFirstLoad({ kind, error }: HealthProblem, { refusesReads }: HereStatus): boolean {
  return kind === 'not-loaded' && error === undefined && !refusesReads;
}

/** In the message of a backup in use. */
const SINCE = / since \d[\w.:-]+Z(?=,)/;

/** The message of a problem. The time of a backup in use is apart from it: it is shown as the other times, with its age. */
function messageOf(
  { kind, message, since }: HealthProblem,
  show: ShowMessage,
): Pick<RowProblem, 'message' | 'since'> {
  const isTimed = kind === 'backup' && since !== undefined && SINCE.test(message);
  return isTimed ? { message: show(message.replace(SINCE, '')), since } : { message: show(message) };
}

/** Those that are live, then those that are idle. */
export function instancesOf(fleet: Fleet | undefined): readonly FleetInstance[] {
  return fleet === undefined ? [] : [...fleet.instances, ...fleet.idle];
}

/** The columns, this instance first. Pure. */
export function columnsOf(fleet: Fleet | undefined, now: number): InstanceColumn[] {
  const instances = instancesOf(fleet);
  const labels = instanceLabels(instances);
  const columns = instances.map((instance) => ({
    id: instance.id,
    host: instance.host,
    label: labels.get(instance.id) ?? instance.host,
    isHere: instance.isHere === true,
    startedAt: now - instance.upFor,
    seenAt: now - instance.seenAgo,
    ...(instance.isIdle && !instance.isHere ? { isIdle: true as const } : {}), // it has just answered
    leftOut: instance.leftOut,
  }));
  return columns.sort((a, b) => Number(b.isHere) - Number(a.isHere));
}

/** That of its worst problem; a pin is a notice. */
function levelOf(problems: readonly RowProblem[], here: HereStatus, pins: number): Level {
  const isPinned = here.pinned !== undefined || pins > 0;
  const levels = new Set<Level>([
    ...problems.map(problemLevel),
    ...(here.refusesReads ? (['bad'] as const) : []),
    ...(isPinned ? (['note'] as const) : []),
  ]);
  return LEVELS.find((level) => levels.has(level)) ?? 'ok';
}

/** The levels of kinds of problems; of any other kind loads fail. */
const LEVEL_OF_KIND: { readonly [kind in string]?: Level } = {
  'too-stale': 'note', // where it is not fatal: the next read starts a load
  backup: 'backup',
  'backend-down': 'unshared',
  'checks-failing': 'unshared',
  'not-loaded': 'note',
  paused: 'note',
  behind: 'note',
};

/** How much a problem wants attention. */
export function problemLevel({ kind, isFatal }: Pick<RowProblem, 'kind' | 'isFatal'>): Level {
  return isFatal ? 'bad' : (LEVEL_OF_KIND[kind] ?? 'warn');
}

/** Reads of a member are served now, or would wait for its first load. */
export function servesReads({ here, problems }: Pick<MemberRow, 'here' | 'problems'>): boolean {
  return !here.refusesReads && !problems.some(({ isFatal }) => isFatal);
}

/** The state of this instance is known better than by its last report. */
function withoutHere<L extends Fleet['members'][number]>(line: L, own: string | undefined): L {
  const isElsewhere = ({ id }: InstanceName): boolean => id !== own;
  const { failing, behind, refused } = line;
  return {
    ...line,
    failing: failing.filter(isElsewhere),
    behind: behind.filter(isElsewhere),
    refused: refused.filter(isElsewhere),
  };
}

/** The problems that other instances report of a member. @param own those that this one has of it. */
function elsewhereOf(
  line: Fleet['members'][number],
  here: HereStatus,
  own: readonly Pick<RowProblem, 'kind'>[],
  labels: ReadonlyMap<string, string>,
  show: ShowMessage,
): RowProblem[] {
  const { behind, failing, refused } = line;
  const named = (all: readonly InstanceName[]): string => {
    const first = all.slice(0, 3).map(({ id, host }) => labels.get(id) ?? host);
    return `${first.join(', ')}${all.length > 3 ? ` and ${all.length - 3} more` : ''}`;
  };
  const elsewhere = (kind: RowProblem['kind'], message: string, cause?: string): RowProblem => {
    return { kind, isFatal: false, message: show(message), ...(cause && { cause: show(cause) }) };
  };
  const found: RowProblem[] = [];
  const isRefused = new Set(refused.map(({ id }) => id));
  const others = failing.filter(({ id }) => !isRefused.has(id)); // where that is why, it is one problem
  if (others.length > 0 && here.failures === undefined) {
    const [{ error }] = others as [(typeof failing)[number]];
    const message = `failing on ${named(others)}: ${error ?? 'unknown error'}`;
    found.push(elsewhere('failing-elsewhere', message, error));
  }
  if (here.refused !== undefined) {
    const isSaid = own.some(({ kind }) => kind === 'refused');
    if (!isSaid) found.push(elsewhere('refused', `refused here: ${here.refused}`));
  } else if (refused[0] !== undefined) {
    found.push(elsewhere('refused', `refused on ${named(refused)}: ${refused[0].reason}`));
  }
  if (behind.length > 0) found.push(elsewhere('behind', `older version on ${named(behind)}`));
  return found;
}

function countsOf({ of, holding, version }: Fleet['members'][number]): NonNullable<MemberRow['fleet']> {
  return { of, holding, ...(version === undefined ? {} : { version }) };
}

/** The report of an instance about a member. */
interface InstanceReport {
  /** The id of the instance. */
  readonly on: string;
  readonly member: ReportedMember;
}

/** By member. */
function reportsOf(fleet: Fleet | undefined): Map<string, InstanceReport[]> {
  const reports = new Map<string, InstanceReport[]>();
  for (const { id: on, members } of instancesOf(fleet)) {
    for (const member of members) {
      const ofMember = reports.get(member.name) ?? [];
      ofMember.push({ on, member });
      reports.set(member.name, ofMember);
    }
  }
  return reports;
}

function cellOf(
  { on, member }: InstanceReport,
  newest: number | undefined,
  now: number,
  show: ShowMessage,
): Cell {
  const { version, takingOver = 0, age, failures, error, pinned, refused } = member;
  const isEmpty = version === undefined && age === undefined;
  const isBehind = newest !== undefined && version !== newest && takingOver < newest;
  return {
    on,
    ...(version === undefined ? {} : { version }),
    ...(age === undefined ? {} : { loadedAt: now - age }),
    ...(!isEmpty && isBehind ? { behind: true as const } : {}),
    ...(failures > 0 ? { failures } : {}),
    ...(error === undefined ? {} : { error: show(error) }),
    ...(pinned === undefined ? {} : { pinnedBy: pinned.by }),
    ...(refused === undefined ? {} : { refused: refused.reason }),
  };
}

/** A load that may start at once is due now, by one clock or the other. */
const AT_ONCE_MS = 100;

/** The state of a member here. Pure. */
export function hereOf(
  kind: GroupMember['kind'],
  status: Status,
  now: number,
  show: ShowMessage,
): HereStatus {
  const { refusesReads } = status as Partial<ValueStatus<unknown>>;
  const flags = {
    ...(refusesReads ? { refusesReads } : {}),
    ...(status.paused ? { paused: true as const } : {}),
    ...(status.closed ? { closed: true as const } : {}),
  };
  if (kind === 'cache') {
    const { size, running, failing, backups = 0 } = status as CacheStatus;
    const failures = failing > 0 ? { failures: failing } : {};
    const byBackup = backups > 0 ? { backups } : {};
    return { state: 'keys', size, loading: running, ...failures, ...byBackup, ...flags };
  }
  const one = status as ExecutionStatus & Partial<ValueStatus<unknown>>;
  const { age, refused, maxStaleness = Infinity, lock, pinned, lastError, failures, lastEndedAt } = one;
  const loadedAt = kind === 'value' ? (age === undefined ? undefined : now - age) : lastEndedAt;
  const isAhead = one.nextExecuteTime > now + AT_ONCE_MS && one.nextExecuteTime < Infinity;
  return {
    state: one.state ?? (one.isDue ? 'due' : 'done'),
    ...(one.running ? { running: true as const } : {}),
    ...(one.runningSince === undefined ? {} : { runningSince: one.runningSince }),
    ...flags,
    ...(loadedAt === undefined ? {} : { loadedAt }),
    ...(isAhead ? { nextAt: one.nextExecuteTime } : {}),
    ...(Number.isFinite(maxStaleness) ? { maxStaleness } : {}),
    ...(failures > 0 ? { failures } : {}),
    ...(isOfBackup(one.meta) ? { backups: 1 } : {}),
    ...(one.failingSince === undefined ? {} : { failingSince: one.failingSince }),
    ...(lastError === undefined ? {} : { error: show(failureText(lastError)) }),
    ...(lock?.version === undefined ? {} : { version: lock.version }),
    ...(lock?.isHolder ? { isHolder: true as const } : {}),
    ...(pinned === undefined ? {} : { pinned: pinOf(pinned) }),
    ...(refused === undefined ? {} : { refused: refused.reason }),
  };
}

function pinOf({
  by,
  note,
  until,
}: NonNullable<ExecutionStatus['pinned']>): NonNullable<HereStatus['pinned']> {
  return { by, note, ...(Number.isFinite(until) ? { until } : {}) };
}
