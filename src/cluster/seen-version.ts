import type { VersionRecord } from '../data/version-record.ts';
import type { Entry } from '../engine/entry.ts';
import type { TicklessError } from '../errors.ts';
import { optionError } from '../option-error.ts';
import type { ClusterMember } from './cluster-member.ts';

// A decision of a person is refused when it was based on another version than the one in place.

/** The error of what may not be done to an entry, as an option and its rule. */
export function refusedOption(
  { options: { name: member } }: ClusterMember,
  { key }: Entry<unknown>,
  option: string,
  rule: string,
  received: unknown,
): TicklessError {
  return optionError([{ option, rule, received }], { member, key });
}

/** @throws {TicklessError} `OPTION` when the version that the person has seen, if one was named, is not in place. */
export function throwUnlessSeen(
  member: ClusterMember,
  entry: Entry<unknown>,
  seen: number | undefined,
  present: Pick<VersionRecord, 'version'> | undefined,
): void {
  if (seen === undefined || seen === present?.version) return;
  const now = present === undefined ? 'there is none' : `by now that is ${present.version}`;
  const rule = `must be the version in place, ${now}: look at it again`;
  throw refusedOption(member, entry, 'version', rule, seen);
}
