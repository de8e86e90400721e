import type { ConformanceCase } from './conformance.ts';
import { ACQUIRE } from './lock/acquire.ts';
import { type Case, LockCaseContext, type LockSubject } from './lock/case-context.ts';
import { EXPIRY } from './lock/expiry.ts';
import { EXTEND } from './lock/extend.ts';
import { RELEASE } from './lock/release.ts';
import { TOKENS } from './lock/tokens.ts';

export type { LockSubject } from './lock/case-context.ts';

const CASES: readonly Case[] = [...ACQUIRE, ...TOKENS, ...EXPIRY, ...EXTEND, ...RELEASE];

/**
 * Test cases for the promises of a lock to its members, for any test runner. They use real time and their own names, and may
 * share a backend with other users. Their records remain, since a lock can't delete records.
 *
 * ```ts no-run
 * import { it } from 'node:test'; // or of vitest, jest, mocha
 * import { memoryBackend } from 'tickless/memory';
 * import { lockConformance } from 'tickless/testing';
 *
 * for (const { name, run } of lockConformance({ lock: () => memoryBackend() })) it(name, run);
 * ```
 *
 * @returns independent cases: they may run in any order, and concurrently.
 */
export function lockConformance(subject: LockSubject): readonly ConformanceCase[] {
  return CASES.map(({ name, run }) => ({
    name,
    run: async () => run(await LockCaseContext.begin(subject)),
  }));
}
