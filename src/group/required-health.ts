import { type Entry, keyOf } from '../engine/entry.ts';
import { reasonOf, showKey } from '../errors.ts';
import type { KeyedMember, RequiredEntries, RequiredEntry } from '../options/group-handle.ts';
import { entryHealth } from './health.ts';
import type { HealthProblem } from './member.ts';

/** The problems of the required keys of a cache: those without a first success, and those too old to be served. */
export function requiredHealth<V>(member: KeyedMember<V>): HealthProblem[] {
  const { required } = member;
  if (required === undefined) return [];
  const entries = required.entries();
  const missing = entries.filter(({ isMissing }) => isMissing);
  const present = entries.flatMap(({ entry, isMissing }) => (isMissing || !entry ? [] : [entry]));
  return [
    ...missingHealth(member.options.name, required, missing),
    ...tooStaleHealth(member, required, present),
  ];
}

function missingHealth(
  name: string,
  { count, isAny }: RequiredEntries<unknown>,
  missing: readonly RequiredEntry<unknown>[],
): HealthProblem[] {
  const example = missing.find(({ entry }) => entry?.lastError !== undefined) ?? missing[0];
  if (example === undefined) return [];
  const { key, entry } = example;
  const error = entry?.lastError;
  const what = isAny
    ? 'is required, and no key had a success yet'
    : `${missing.length} of ${count} required keys had no success yet`;
  const which = key === undefined ? '' : `, for example ${showKey(key)}`;
  const message = `${what}${which}${error === undefined ? '' : `: ${reasonOf(error)}`}`;
  const details = { ...(key === undefined ? {} : { key }), ...(error === undefined ? {} : { error }) };
  return [{ name, kind: 'not-loaded', isFatal: true, message, ...details }];
}

function tooStaleHealth<V>(
  { options, engine }: KeyedMember<V>,
  { count }: RequiredEntries<V>,
  entries: readonly Entry<V>[],
): HealthProblem[] {
  const { name, whenFailing, clock } = options;
  const rules = { name, isRequired: false, runState: engine.runState, whenFailing };
  const now = clock.monotonic();
  const problems = entries.flatMap((entry) =>
    entryHealth(entry, rules, now)
      .filter(({ kind }) => kind === 'too-stale')
      .map((problem) => ({ ...problem, ...keyOf(entry) })),
  );
  const example = problems.find(({ isFatal }) => isFatal) ?? problems[0];
  if (example === undefined) return [];
  const message = `${problems.length} of ${count} required keys too old, for example ${showKey(example.key)}: ${example.message}`;
  return [{ ...example, message }];
}
