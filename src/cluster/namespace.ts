import type { OptionChecks } from '../option-checks.ts';

/** The beginning of all names in a namespace. */
export function namespacePrefix(namespace: string | undefined): string {
  return namespace === undefined ? '' : `${namespace}/`;
}

/** The longest name in a namespace, in bytes of UTF-8. @param longest with the prefix. */
export function longestWithin(longest: number | undefined, prefix: string): number | undefined {
  return longest === undefined ? undefined : longest - new TextEncoder().encode(prefix).length;
}

/** Checks the option `namespace` of a lock or a store whose backend accepts names of `longest` bytes. */
export function checkNamespace(
  checks: OptionChecks,
  namespace: string | undefined,
  longest: number = Infinity,
): void {
  if (namespace === undefined) return;
  checks.name('namespace', namespace);
  if (typeof namespace !== 'string') return;
  const isShort = new TextEncoder().encode(namespace).length <= longest / 2;
  checks.that(isShort, 'namespace', `must be at most ${Math.floor(longest / 2)} bytes long`, namespace);
}
