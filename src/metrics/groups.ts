import type { RefreshGroup } from '../group/refresh-group.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { MemberStatus, Metric } from './metrics.ts';

/** A group, or several. */
export type Groups = RefreshGroup | readonly RefreshGroup[];

/**
 * The checked arguments of an exporter.
 *
 * @param methods of each option, the methods that it must have.
 * @throws {TicklessError} `OPTION` when there is no group, for an unknown option, and for one without its methods.
 */
export function groupsArgument<O extends object>(
  groups: Groups,
  given: O,
  methods: Readonly<Record<keyof O & string, readonly string[]>>,
): readonly [groups: readonly RefreshGroup[], options: O] {
  const all = (Array.isArray(groups) ? groups : [groups]) as readonly RefreshGroup[];
  const checks = new OptionChecks('tickless');
  const options = ownOptions(given ?? ({} as O));
  checks.names('', options, Object.keys(methods));
  for (const group of all) checks.methods('groups', group, ['inspect', 'on']);
  for (const [option, received] of Object.entries(options))
    if (received !== undefined) checks.methods(option, received, methods[option as keyof O & string] ?? []);
  checks.done();
  return [all, options];
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
