import type { ConformanceCase } from './conformance.ts';
import { ACQUIRE } from './lock/acquire.ts';
import { EXPIRY } from './lock/expiry.ts';
import { EXTEND } from './lock/extend.ts';
import { NAMES } from './lock/names.ts';
import { OPERATORS } from './lock/operators.ts';
import { RELEASE } from './lock/release.ts';
import { TOKENS } from './lock/tokens.ts';
import { type Case, type LockSubject, Trial } from './lock/trial.ts';
import { UNREACHABLE } from './lock/unreachable.ts';

export type { LockSubject } from './lock/trial.ts';

const CASES: readonly Case[] = [
  ...ACQUIRE,
  ...TOKENS,
  ...EXPIRY,
  ...EXTEND,
  ...RELEASE,
  ...OPERATORS,
  ...NAMES,
  ...UNREACHABLE,
];

/**
 * All that a `LockProvider` promises, as cases for any test runner. They use real time and names of their own,
 * and may share an engine with others. The records of those names stay, since a lock has no way to delete one.
 *
 * ```ts no-run
 * import { it } from 'node:test'; // or of vitest, jest, mocha
 * import { memoryLock } from 'tickless/lock/memory';
 * import { lockConformance } from 'tickless/testing';
 *
 * for (const { name, run } of lockConformance({ lock: () => memoryLock() })) it(name, run);
 * ```
 *
 * @returns the cases, each independent of the others: they may run in any order, and at the same time.
 */
export function lockConformance(subject: LockSubject): readonly ConformanceCase[] {
  const has = { always: true, unreachable: subject.unreachable, forget: subject.forget };
  return CASES.filter(({ needs }) => has[needs] !== undefined).map(({ name, run }) => ({
    name,
    run: async () => run(await Trial.begin(subject)),
  }));
}
