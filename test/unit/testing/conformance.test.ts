import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ConformanceCase, lockConformance, storeConformance } from '../../../src/testing/index.ts';
import { faultyLock, LOCK_FAULTS, SOUND as SOUND_LOCK } from './faulty-lock.ts';
import { faultyStore, SOUND as SOUND_STORE, STORE_FAULTS } from './faulty-store.ts';

/** Milliseconds. Short, since some cases wait for what will never come. */
const UNIT = 60;

/** Of a suite on many engines: fault → case → what it said. */
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
    await sleep((i * UNIT) / 2); // one after the other, or none would get a word in edgeways
    failures.set(fault.fault, await failuresOf(suite(fault)));
  });
  await Promise.all(tried);
  return failures;
}

/** The faults that turn the case red, without turning half of the suite red. */
function seenBy(name: string, failures: Failures, caseCount: number): string[] {
  const faults = [...failures].filter(([, failed]) => failed.has(name) && failed.size < caseCount / 2);
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
  }, 60_000);

  it.each(LOCK_FAULTS)('sees the fault: $fault', ({ fault }) => {
    expect([...(failures.get(fault) ?? [])]).not.toEqual([]);
  });

  it.each(suiteOf(SOUND_LOCK))('has a case that can fail: $name', ({ name }) => {
    expect(seenBy(name, failures, suiteOf(SOUND_LOCK).length)).not.toEqual([]);
  });

  it('leaves out what the subject does not have', () => {
    const all = suiteOf(SOUND_LOCK);
    const { lock } = faultyLock(SOUND_LOCK);
    const left = lockConformance({ lock });
    expect(all.filter(({ name }) => !left.some((one) => one.name === name)).map(({ name }) => name)).toEqual([
      'token: grows also after the backend has lost its data',
      'unreachable: each step rejects with LockUnavailableError, within ten seconds',
    ]);
  });
});

describe('storeConformance', () => {
  const suiteOf = (fault: (typeof STORE_FAULTS)[number]) =>
    storeConformance({ ...faultyStore(fault), unit: UNIT });
  let failures: Failures;

  beforeAll(async () => {
    failures = await tryAll(STORE_FAULTS, suiteOf);
  }, 60_000);

  it.each(STORE_FAULTS)('sees the fault: $fault', ({ fault }) => {
    expect([...(failures.get(fault) ?? [])]).not.toEqual([]);
  });

  it.each(suiteOf(SOUND_STORE))('has a case that can fail: $name', ({ name }) => {
    expect(seenBy(name, failures, suiteOf(SOUND_STORE).length)).not.toEqual([]);
  });
});

describe.concurrent('each suite holds for a sound engine', () => {
  it.each(lockConformance(faultyLock(SOUND_LOCK)))('lock: $name', ({ run }) => run());
  it.each(storeConformance(faultyStore(SOUND_STORE)))('store: $name', ({ run }) => run());

  it.each([
    ['lock', lockConformance(faultyLock(SOUND_LOCK))],
    ['store', storeConformance(faultyStore(SOUND_STORE))],
  ])('the names of the cases are unique: %s', (_, cases) => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });
});
