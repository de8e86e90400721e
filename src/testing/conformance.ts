import { randomId } from '../cluster/identity.ts';

/** One promise of a contract, for any test runner: `it(name, run)`. */
export interface ConformanceCase {
  /** What holds. Unique in its suite. */
  readonly name: string;
  /** Rejects with an `Error` that says what did not hold. May run together with the others, and several times. */
  run(): Promise<void>;
}

/** The unit of time of the suites where none is given, in milliseconds. */
export const DEFAULT_UNIT_MS = 150;

/** By how much of a unit two clocks of a healthy machine may differ over a few units. */
export const CLOCK_TOLERANCE = 0.1;

/** Resolves after that many milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Begins with nothing that an earlier run left on a shared engine. */
export function uniqueName(label: string): string {
  return `conformance-${randomId().slice(0, 13)}-${label}`;
}

/** Names that engines take for one another, or for a pattern, a path or a statement, unless they take care. */
export const AWKWARD_NAMES: readonly string[] = [
  'a',
  'A',
  'a ',
  ' a',
  'a.',
  'ä',
  'a\u0308', // looks the same
  'ss',
  'ß',
  'a/b',
  'a\\b',
  'a/../a',
  '..',
  'a%',
  'a%41',
  'a_',
  'a*',
  'a?',
  'a[b]',
  'a:b',
  'a{b}',
  'a$b',
  '$a.b',
  '#a',
  'a\nb',
  'a\tb',
  `a'b`,
  `a"b`,
  `a'; drop table a; --`,
  '__proto__',
  'con',
  '\u65e5\u672c\u8a9e',
  '\u{1f680}',
];
