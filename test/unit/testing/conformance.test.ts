import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ConformanceCase } from '../../../src/testing/index.ts';
import { backendLockConformance } from '../../support/lock-conformance/index.ts';
import { CORRECT, faultyLock, LOCK_FAULTS, type LockFault } from './faulty-lock.ts';

/** Milliseconds. Short, since some cases wait in vain. */
const UNIT = 60;

/** Results of a suite on many backends: fault → case → error. */
type Failures = Map<string, Map<string, Error>>;

function suiteOf(fault: LockFault): readonly ConformanceCase[] {
  return backendLockConformance({ ...faultyLock(fault), unit: UNIT });
}

async function tryAll(): Promise<Failures> {
  const failures: Failures = new Map();
  const tried = LOCK_FAULTS.map(async (fault, i) => {
    await sleep((i * UNIT) / 2); // staggered, so that each gets processor time
    const failed = new Map<string, Error>();
    failures.set(fault.fault, failed);
    await Promise.all(suiteOf(fault).map(({ name, run }) => run().catch((error) => failed.set(name, error))));
  });
  await Promise.all(tried);
  return failures;
}

describe('lockConformance', () => {
  const cases = suiteOf(CORRECT);
  let failures: Failures;

  beforeAll(async () => {
    failures = await tryAll();
  }, 240_000); // a tenth of it, on a machine that does nothing else

  it.each(LOCK_FAULTS)('detects the fault: $fault', ({ fault }) => {
    expect([...(failures.get(fault) ?? [])]).not.toEqual([]);
  });

  it.each(cases)(
    'has a case that can fail, by a fault that does not turn nearly all red: $name',
    ({ name }) => {
      const seen = [...failures.values()].filter((failed) => failed.has(name));
      expect(Math.min(...seen.map(({ size }) => size))).toBeLessThan(0.75 * cases.length);
    },
  );

  it('has a name of its own for each case', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });

  it('leaves out cases without a subject', () => {
    const { lock } = faultyLock(CORRECT);
    const left = backendLockConformance({ lock });
    expect(
      cases.filter(({ name }) => !left.some((one) => one.name === name)).map(({ name }) => name),
    ).toEqual([
      'token: grows also after the backend has lost its data',
      'damage: token of a lease is reported once, and the record is replaced',
      'damage: token of a hold is reported once, and the record is replaced',
      'damage: leaseUntil of a lease is reported once, and the record is replaced',
      'damage: notBefore of a hold is reported once, and the record is replaced',
      'damage: state of a hold is reported once, and the record is replaced',
      'unreachable: each step rejects with BACKEND_DOWN, within ten seconds',
      'many: a damaged record is that of its name alone',
      'many: an unreachable backend rejects with BACKEND_DOWN, within ten seconds',
    ]);
  });
});

describe.concurrent('lockConformance of a correct lock', () => {
  it.each(backendLockConformance(faultyLock(CORRECT)))('passes: $name', ({ run }) => run());
});
