import type {
  Fleet,
  FleetInstance,
  FleetMember,
  InstanceName,
  InstanceWith,
  MemberName,
  ReportedMember,
} from '../data/fleet.ts';
import { instanceLabels } from '../data/instance-label.ts';
import { withJson } from '../json.ts';
import { printable } from '../printable.ts';
import { showDuration } from '../time/show-duration.ts';
import { readReport } from './fleet-report.ts';
import type { StoredReport } from './store-contract.ts';

/** How many instances the line of a member names of each kind. */
const MOST_NAMED = 3;

/** A member of an instance. */
interface MemberOfInstance {
  readonly instance: InstanceName;
  readonly member: ReportedMember;
}

/**
 * The instances that have left these reports. A text that is not a report counts as absent.
 *
 * @param of only these members, and the instances that have one of them. @default all
 * @param asker the id of the instance that asks. @default unknown
 */
export function fleetOf(reports: readonly StoredReport[], of?: readonly MemberName[], asker?: string): Fleet {
  const ids = of && new Set(of.map(({ name }) => name));
  const all = reports
    .flatMap((report) => readReport(report, ids) ?? [])
    .filter(({ members }) => of === undefined || members.length > 0)
    .map(withoutTwins)
    .map((instance) => (instance.id === asker ? { ...instance, isHere: true as const } : instance))
    .sort((a, b) => compare(a.host, b.host) || compare(a.id, b.id));
  const instances = all.filter(({ isIdle }) => !isIdle);
  const labels = instanceLabels(instances);
  const parts = new Map<string, MemberOfInstance[]>();
  for (const { id, host, members } of instances) {
    for (const member of members) {
      const part = { instance: { id, host }, member };
      const others = parts.get(member.name);
      if (others === undefined) parts.set(member.name, [part]);
      else others.push(part);
    }
  }
  const members = [...parts.values()].map((all) =>
    memberOf(all as [MemberOfInstance, ...MemberOfInstance[]], labels),
  );
  members.sort((a, b) => compare(a.name, b.name));
  return withJson({ instances, idle: all.filter(({ isIdle }) => isIdle), members });
}

/** A report may have a member twice: two of one name use the store object. The first counts. */
function withoutTwins(instance: FleetInstance): FleetInstance {
  const seen = new Set<string>();
  const isFirst = (member: MemberName): boolean => !seen.has(member.name) && seen.add(member.name) === seen;
  return { ...instance, members: instance.members.filter(isFirst) };
}

function memberOf(
  parts: readonly [MemberOfInstance, ...MemberOfInstance[]],
  labels: ReadonlyMap<string, string>,
): FleetMember {
  const [{ member }] = parts;
  const newest = Math.max(...parts.map(({ member: { version = 0 } }) => version));
  const version = newest > 0 ? newest : undefined;
  const isTakingOver = ({ version: held = 0, takingOver = 0 }: ReportedMember): boolean =>
    held < newest && takingOver >= newest;
  const ages = parts.flatMap(({ member: { age } }) => age ?? []);
  const summary: Omit<FleetMember, 'text'> = {
    name: member.name,
    kind: member.kind,
    version,
    of: parts.length,
    holding: parts.filter((part) => part.member.version === version && version !== undefined).length,
    takingOver: parts.filter((part) => isTakingOver(part.member)).length,
    behind: each(parts, (one) => {
      const { kind, version: held, age } = one;
      const isEmpty = kind === 'value' && held === undefined && age === undefined;
      return held === version || isEmpty || isTakingOver(one) ? undefined : { version: held };
    }),
    oldest: ages.length === 0 ? undefined : (member.kind === 'executor' ? Math.min : Math.max)(...ages),
    failing: each(parts, ({ failures, error }) => (failures > 0 ? { failures, error } : undefined)),
    pinned: each(parts, ({ pinned }) => pinned),
    refused: each(parts, ({ refused }) => refused),
  };
  return { ...summary, text: textOf(summary, labels) };
}

function each<Details extends object>(
  parts: readonly MemberOfInstance[],
  details: (member: ReportedMember) => Details | undefined,
): InstanceWith<Details>[] {
  return parts.flatMap(({ instance, member }) => {
    const found = details(member);
    return found === undefined ? [] : [{ ...instance, ...found }];
  });
}

function textOf(member: Omit<FleetMember, 'text'>, labels: ReadonlyMap<string, string>): string {
  const label = ({ id, host }: InstanceName): string => labels.get(id) ?? host;
  const { kind, oldest, takingOver, failing, pinned, refused } = member;
  const ago = oldest === undefined ? '' : showDuration(oldest);
  const isFailing = new Set(failing.map(({ id }) => id));
  const behind = member.behind.filter(({ id }) => !isFailing.has(id));
  return printable(
    [
      heldBy(member),
      ...(takingOver === 0 ? [] : [`${takingOver} taking it over`]),
      ...(oldest === undefined ? [] : [kind === 'executor' ? `last success ${ago} ago` : `oldest ${ago}`]),
      ...(behind.length === 0 ? [] : [`behind: ${named(behind, label)}`]),
      ...lines(failing, (one) => `${label(one)} failing: ${one.error ?? 'unknown error'}`),
      ...lines(pinned.slice(0, 1), ({ by, note }) => `pinned by ${by}${note ? `: ${note}` : ''}`),
      ...lines(refused, (one) => `refused on ${label(one)}: ${one.reason}`),
    ].join(', '),
  );
}

function heldBy({ kind, version, of, holding }: Omit<FleetMember, 'text'>): string {
  if (kind === 'executor') return `on ${of} ${of === 1 ? 'instance' : 'instances'}`;
  const isValue = kind === 'value';
  if (version === undefined) return isValue ? `none of ${of} has a version` : `${of} without marks`;
  const [holds, hold] = isValue ? ['holds', 'hold'] : ['knows all marks up to', 'know all marks up to'];
  return `${holding} of ${of} ${holding === 1 ? holds : hold} version ${version}`;
}

function lines<One>(all: readonly One[], show: (one: One) => string): string[] {
  return all.length === 0 ? [] : [named(all, show)];
}

/** The first few of them, and how many more there are. */
function named<One>(all: readonly One[], show: (one: One) => string): string {
  const shown = all.slice(0, MOST_NAMED).map(show).join(', ');
  const more = all.length - MOST_NAMED;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** By code units: a locale has no say. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
