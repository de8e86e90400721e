import type { ConformanceCase } from '../../../src/testing/index.ts';
import { lockConformance } from '../../../src/testing/index.ts';
import { LockCaseContext } from '../../../src/testing/lock/case-context.ts';
import type { BackendCase, BackendSubject } from './backend-case.ts';
import { DAMAGE } from './damage.ts';
import { FORGOTTEN } from './forgotten.ts';
import { MANY } from './many.ts';
import { NAMES } from './names.ts';
import { OPERATORS } from './operators.ts';
import { UNREACHABLE } from './unreachable.ts';

export type { BackendSubject, DamagedField } from './backend-case.ts';

const CASES: readonly BackendCase[] = [
  ...OPERATORS,
  ...NAMES,
  ...FORGOTTEN,
  ...DAMAGE,
  ...UNREACHABLE,
  ...MANY,
];

/** The cases of `lockConformance`, and those of what only the lock of a backend has. */
export function backendLockConformance(subject: BackendSubject): readonly ConformanceCase[] {
  const own = CASES.filter(({ needs }) => needs === undefined || subject[needs] !== undefined);
  const cases = own.map(({ name, run }) => ({
    name,
    run: async () => run(await LockCaseContext.begin(subject)),
  }));
  return [...lockConformance(subject), ...cases];
}
