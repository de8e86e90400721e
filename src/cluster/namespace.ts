import type { OptionChecks } from '../option-checks.ts';

/** The name of the record of paused members, beside its namespace. No member has its record. */
export const CONTROL = 'tickless-control';

/** The beginning of all names in a namespace: up to a slash, of which the namespace itself has none there. */
export function namespacePrefix(namespace: string | undefined): string {
  return namespace === undefined ? '' : `${namespace.replace(/[%/]/g, encodeURIComponent)}/`;
}

/**
 * The name of a record behind the beginning of its namespace: no two names have one. A name with a slash has another slash before it,
 * so that no part of it is read as a namespace. One that ends as names of keys do has a slash behind it, unless it is that of a key.
 */
export function recordName(name: string, isKey: boolean = false): string {
  const apart = isKey ? name : name.replace(/\]\/*$/, '$&/');
  return apart.includes('/') || apart === CONTROL ? `/${apart}` : apart;
}

/** The longest name in a namespace, in bytes of UTF-8. @param longest with the prefix. */
export function longestWithin(longest: number | undefined, prefix: string): number | undefined {
  return longest === undefined ? undefined : longest - new TextEncoder().encode(prefix).length;
}

/** Checks the option `namespace` of a backend that accepts names of `longest` bytes. */
export function checkNamespace(
  checks: OptionChecks,
  namespace: string | undefined,
  longest: number = Infinity,
): void {
  if (namespace === undefined) return;
  checks.name('namespace', namespace);
  if (typeof namespace !== 'string') return;
  const isShort = new TextEncoder().encode(namespacePrefix(namespace)).length - 1 <= longest / 2;
  checks.that(isShort, 'namespace', `must be at most ${Math.floor(longest / 2)} bytes long`, namespace);
}
