import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ConformanceCase, lockConformance } from '../../../src/testing/index.ts';
import { storeConformance } from '../../support/store-conformance.ts';
import { CORRECT as CORRECT_LOCK, faultyLock, LOCK_FAULTS } from './faulty-lock.ts';
import { CORRECT as CORRECT_STORE, faultyStore, STORE_FAULTS } from './faulty-store.ts';

/** Milliseconds. Short, since some cases wait in vain. */
const UNIT = 60;

/** Results of a suite on many backends: fault → case → error. */
type Failures = Map<string, Map<string, Error>>;

async function failuresOf(cases: readonly ConformanceCase[]): Promise<Map<string, Error>> {
  const failures = new Map<string, Error>();
  const tried = cases.map(({ name, run }) => run().catch((error) => failures.set(name, error)));
  await Promise.all(tried);
  return failures;
}

async function tryAll<F extends { readonly fault: string }>(
  faults: readonly F[],
  suite: (fault: F) => readonly ConformanceCase[],
): Promise<Failures> {
  const failures: Failures = new Map();
  const tried = faults.map(async (fault, i) => {
    await sleep((i * UNIT) / 2); // staggered, so that each gets processor time
    failures.set(fault.fault, await failuresOf(suite(fault)));
  });
  await Promise.all(tried);
  return failures;
}

/** The faults that turn the case red, and not nearly all of the suite. */
function seenBy(name: string, failures: Failures, caseCount: number): string[] {
  const faults = [...failures].filter(([, failed]) => failed.has(name) && failed.size < 0.75 * caseCount);
  return faults.map(([fault]) => fault);
}

describe('lockConformance', () => {
  const suiteOf = (fault: (typeof LOCK_FAULTS)[number]) => {
    const subject = faultyLock(fault);
    return lockConformance({ ...subject, unit: UNIT });
  };
  let failures: Failures;

  beforeAll(async () => {
    failures = await tryAll(LOCK_FAULTS, suiteOf);
  }, 240_000); // a tenth of it, on a machine that does nothing else

  it.each(LOCK_FAULTS)('detects the fault: $fault', ({ fault }) => {
    expect([...(failures.get(fault) ?? [])]).not.toEqual([]);
  });

  it.each(suiteOf(CORRECT_LOCK))('has a case that can fail: $name', ({ name }) => {
    expect(seenBy(name, failures, suiteOf(CORRECT_LOCK).length)).not.toEqual([]);
  });

  it('leaves out cases without a subject', () => {
    const all = suiteOf(CORRECT_LOCK);
    const { lock } = faultyLock(CORRECT_LOCK);
    const left = lockConformance({ lock });
    expect(all.filter(({ name }) => !left.some((one) => one.name === name)).map(({ name }) => name)).toEqual([
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

describe('storeConformance', () => {
  const suiteOf = (fault: (typeof STORE_FAULTS)[number]) =>
    storeConformance({ ...faultyStore(fault), unit: UNIT });
  let failures: Failures;

  beforeAll(async () => {
    failures = await tryAll(STORE_FAULTS, suiteOf);
  }, 240_000); // a tenth of it, on a machine that does nothing else

  it.each(STORE_FAULTS)('detects the fault: $fault', ({ fault }) => {
    expect([...(failures.get(fault) ?? [])]).not.toEqual([]);
  });

  it.each(suiteOf(CORRECT_STORE))('has a case that can fail: $name', ({ name }) => {
    expect(seenBy(name, failures, suiteOf(CORRECT_STORE).length)).not.toEqual([]);
  });
});

describe.concurrent('each suite passes for a correct backend', () => {
  it.each(lockConformance(faultyLock(CORRECT_LOCK)))('lock: $name', ({ run }) => run());
  it.each(storeConformance(faultyStore(CORRECT_STORE)))('store: $name', ({ run }) => run());

  it.each([
    ['lock', lockConformance(faultyLock(CORRECT_LOCK))],
    ['store', storeConformance(faultyStore(CORRECT_STORE))],
  ])('the names of the cases are unique: %s', (_, cases) => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });
});
