import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'vitest';
import type { Backend } from '../../../../src/engine/backend.ts';
import type { BackendOptions } from '../../../../src/records/backend-options.ts';
import { type BackendSubject, backendLockConformance } from '../../../support/lock-conformance/index.ts';
import { lockOf, storeOf } from '../../../support/parts.ts';
import { type StoreSubject, storeConformance } from '../../../support/store-conformance.ts';

/** Longer than the suites' own: many cases run at a time, on a machine that has more to do. */
export const UNIT_MS = 300;

/** Of the stores that keep older versions. */
export const KEEP_VERSIONS = 3;

/** All cases run at a time, and share the connections of a client. */
const PATIENT = { timeout: 10_000 };
const PATIENT_WITH_OLDER = { ...PATIENT, keepVersions: KEEP_VERSIONS };

/** Makes a backend over a client. */
type Open = (options: BackendOptions) => Backend;

/** A backend, as the suites are told of it. */
export interface ConformanceSubject {
  /** @default UNIT_MS */
  readonly unit?: number;
  readonly one: Open;
  /** With another client. */
  readonly another: Open;
  /** With a client that reaches nothing. */
  readonly none: Open;
  /** What a person does to the records. */
  readonly edits?: Pick<BackendSubject, 'forget' | 'damage'> & Pick<StoreSubject, 'postdate'>;
}

/** The suites of lock and store, as tests. */
export function conformance({ unit = UNIT_MS, one, another, none, edits }: ConformanceSubject): void {
  const unreachable = (): Backend => none({ timeout: 1000 });
  const lock: BackendSubject = {
    ...{ unit, ...edits },
    lock: () => lockOf(one(PATIENT)),
    other: () => lockOf(another(PATIENT)),
    unreachable: () => lockOf(unreachable()),
  };
  const storeWith = (options: BackendOptions): StoreSubject => ({
    ...{ unit, ...edits, keepVersions: options.keepVersions },
    inNamespace: (namespace) => storeOf(one({ ...options, namespace })),
    store: () => storeOf(one(options)),
    other: () => storeOf(another(options)),
    unreachable: () => storeOf(unreachable()),
  });
  const suites = {
    lock: backendLockConformance(lock),
    store: storeConformance(storeWith(PATIENT)),
    'store with keepVersions': storeConformance(storeWith(PATIENT_WITH_OLDER)),
  };
  for (const [suite, cases] of Object.entries(suites)) {
    describe(suite, { concurrent: true }, () => {
      for (const { name, run } of cases) it(name, run);
    });
  }
}

/** The same backend each time for the same options, as a process has it. */
export function remembered(open: Open): Open {
  const opened = new Map<string, Backend>();
  return (options) => {
    const key = JSON.stringify(options);
    const backend = opened.get(key) ?? open(options);
    opened.set(key, backend);
    return backend;
  };
}

/** Has remembered backends ask for a while, as in use: the first commands of a client tell the clock of the server to a second only. */
export async function warmUp(...all: readonly Open[]): Promise<void> {
  const backends = all.flatMap((open) => [open(PATIENT), open(PATIENT_WITH_OLDER)]);
  for (let i = 0; i < 60; i += 1) {
    await Promise.all(backends.flatMap((one) => [lockOf(one).inspect('a'), storeOf(one).read('a')]));
    await sleep(19);
  }
}
