import { randomId } from '../cluster/identity.ts';

/** One promise of a contract as a test case, for any test runner: `it(name, run)`. */
export interface ConformanceCase {
  /** The promise. Unique in its suite. */
  readonly name: string;
  /** Rejects with an `Error` that describes the violation. May run concurrently with the other cases, and repeatedly. */
  run(): Promise<void>;
}

/** Default unit of time of the suites, in milliseconds. */
export const DEFAULT_UNIT_MS = 150;

/** Greatest difference of two clocks of a healthy machine over a few units, in units. */
export const CLOCK_TOLERANCE = 0.1;

/** Resolves after `ms` milliseconds, and after all other timers that are due by then, if the event loop was blocked. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setTimeout(resolve, 0), ms));
}

/** A name without records of earlier runs on a shared backend. */
export function uniqueName(label: string): string {
  return `conformance-${randomId().slice(0, 13)}-${label}`;
}

/** Names of one case, in this order. */
export function namesFrom<const E extends readonly string[]>(
  base: string,
  ends: E,
): { [I in keyof E]: string } {
  return ends.map((end) => `${base}-${end}`) as { [I in keyof E]: string };
}

/** Names that a careless backend confuses with each other, or interprets as a pattern, a path or a statement. */
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

/** Texts that not every backend stores as they are: two of them would become one, or an error. */
export const UNSTORABLE_TEXTS: readonly string[] = ['a\ud800', 'a\udfff', '\udc00\ud800', 'a\0b'];
