import {
  type ResolvedOptions,
  resolveOptions,
  SHARED,
  VALUE_SHARED,
} from '../../src/options/resolve-options.ts';

type Options = Parameters<typeof resolveOptions>[0];

/** The policy of a value of these options, for the parts that take one. */
export function policyOfValue(options: Omit<Options, 'name'>): ResolvedOptions {
  return resolveOptions({ name: 'v', logger: false, ...options }, { names: VALUE_SHARED, check: () => {} });
}

/** That of one key of a cache. */
export function policyOfKey(options: Omit<Options, 'name'>): ResolvedOptions {
  const names = [...VALUE_SHARED, 'absentFor'];
  return resolveOptions({ name: 'v', logger: false, ...options }, { names, check: () => {} });
}

/** That of a task. */
export function policyOfTask(options: Omit<Options, 'name'>): ResolvedOptions {
  return resolveOptions({ name: 'e', logger: false, ...options }, { names: SHARED, check: () => {} });
}
