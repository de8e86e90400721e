import type { VersionRecord } from '../data/version-record.ts';
import type { Entry } from '../engine/entry.ts';
import { OptionError } from '../errors.ts';
import type { ClusterMember } from './cluster-member.ts';

// A decision of a person is refused when it was based on another version than the one in place.

/** The error of what may not be done to an entry, as an option and its rule. */
export function refusedOption(
  { options: { name: cacheName } }: ClusterMember,
  { key }: Entry<unknown>,
  option: string,
  rule: string,
  received: unknown,
): OptionError {
  return new OptionError([{ option, rule, received }], { cacheName, key });
}

/** @throws {OptionError} when the version that the person has seen, if one was named, is not in place. */
export function throwUnlessSeen(
  member: ClusterMember,
  entry: Entry<unknown>,
  seen: number | undefined,
  present: VersionRecord | undefined,
): void {
  if (seen === undefined || seen === present?.version) return;
  const now = present === undefined ? 'there is none' : `by now that is ${present.version}`;
  const rule = `must be the version in place, ${now}: look at it again`;
  throw refusedOption(member, entry, 'version', rule, seen);
}
