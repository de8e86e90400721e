import type { RefreshGroup } from '../group/refresh-group.ts';
import { OptionChecks } from '../option-checks.ts';
import type { MemberStatus, Metric } from './metrics.ts';

/** A group, or several. */
export type Groups = RefreshGroup | readonly RefreshGroup[];

/** The checked arguments of an exporter. @throws {OptionError} when there is no group, and for an unknown option. */
export function groupsArgument(
  groups: Groups,
  options: object,
  names: readonly string[],
): readonly RefreshGroup[] {
  const all = (Array.isArray(groups) ? groups : [groups]) as readonly RefreshGroup[];
  const checks = new OptionChecks('tickless');
  checks.names('', options, names);
  for (const group of all) checks.methods('groups', group, ['inspect', 'on']);
  checks.done();
  return all;
}

/** The present state of all members. Starts nothing. */
export function membersOf(groups: readonly RefreshGroup[]): readonly MemberStatus[] {
  return groups.flatMap((group) => group.inspect({ values: false }).members as readonly MemberStatus[]);
}

/** The samples of a metric, of all members that have it. */
export function samplesOf(
  { of }: Metric,
  members: readonly MemberStatus[],
): (readonly [labels: Record<string, string>, value: number])[] {
  return members.flatMap((member) =>
    of(member).flatMap(([value, labels]) =>
      value === undefined ? [] : [[{ name: member.name, ...labels }, value] as const],
    ),
  );
}
