import type { ResolvedOptions } from '../../src/engine/resolved-options.ts';
import { resolveOptions, SHARED, VALUE_SHARED } from '../../src/options/resolve-options.ts';

type Options = Parameters<typeof resolveOptions>[0];

const check = (): void => {};

/** The resolved options of a value, for the parts that need them. */
export function optionsOfValue(options: Omit<Options, 'name'>): ResolvedOptions {
  return resolveOptions(
    { name: 'v', logger: false, ...options },
    { kind: 'value', names: VALUE_SHARED, check },
  );
}

/** Those of a task. */
export function optionsOfTask(options: Omit<Options, 'name'>): ResolvedOptions {
  return resolveOptions({ name: 'e', logger: false, ...options }, { kind: 'task', names: SHARED, check });
}
