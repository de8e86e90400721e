import { reasonOf, showKey } from '../errors.ts';
import type { KeyedMember } from '../options/group-handle.ts';
import type { HealthProblem } from './member.ts';

/** The problem of a required cache of which no key had a success yet. */
export function requiredHealth<V>({ required, options, failing }: KeyedMember<V>): HealthProblem[] {
  if (required === undefined || required.isOver) return [];
  const [example] = failing();
  const error = example?.lastError;
  const which =
    example === undefined ? '' : `, for example ${showKey(example.key)}: ${reasonOf(error as Error)}`;
  const message = `is required, and no key had a success yet${which}`;
  const details = example === undefined ? {} : { key: example.key, error };
  return [{ name: options.name, kind: 'not-loaded', isFatal: true, message, ...details } as HealthProblem];
}
