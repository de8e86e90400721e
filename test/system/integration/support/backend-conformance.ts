import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { LockSubject } from '../../../../src/testing/index.ts';
import type { StoreSubject } from '../../../support/store-conformance.ts';
import type { Backend, Connected } from './backends.ts';
import { conformance, KEEP_VERSIONS } from './conformance.ts';

/** Longer than the suites' own: many cases run at a time, on a machine that has more to do. */
export const UNIT_MS = 300;
/** Where an acquire takes two commands: the second must be answered before the shortest lease is over. */
const UNIT_OF_TWO_MS = 1000;

/** All cases run at a time and share a pool of ten connections. */
const PATIENT = { timeout: 10_000 };

/** A port that can't be listened on by accident: nobody does. */
export const NOBODY = '127.0.0.1:1';

export const OLDER = { keepVersions: KEEP_VERSIONS };

/** All suites, in longer units. */
export function suites(
  lock: LockSubject,
  store: StoreSubject,
  older: Pick<StoreSubject, 'store' | 'other'>,
): void {
  conformance({ unit: UNIT_MS, ...lock }, { unit: UNIT_MS, ...store }, older);
}

/**
 * All suites on a server, as tests.
 *
 * @param url called when the tests begin.
 */
export function backendConformance({ connect, acquireCommands }: Backend, url: () => string): void {
  const unit = acquireCommands > 1 ? UNIT_OF_TWO_MS : UNIT_MS;
  const space = `conformance_${randomUUID().slice(0, 8)}`;
  let one: Connected;
  let another: Connected;
  let none: Connected;

  beforeAll(async () => {
    [one, another, none] = await Promise.all([
      connect(url()),
      connect(url()),
      connect(url().replaceAll(/(?<=[/@,])[^/@,]+:\d+/g, NOBODY)),
    ]);
  });
  afterAll(() => {
    for (const client of [one, another, none]) client?.destroy();
  });

  suites(
    {
      unit,
      lock: () => one.lock(space, PATIENT),
      other: () => another.lock(space, PATIENT),
      unreachable: () => none.lock(space, { timeout: 1000 }),
      forget: (name) => one.forget(space, name),
      damage: (name, field) => one.damage(space, name, field),
    },
    {
      unit,
      postdate: (name, ms) => one.postdate(space, name, ms),
      inNamespace: (namespace) => one.store(space, { ...PATIENT, namespace }),
      store: () => one.store(space, PATIENT),
      other: () => another.store(space, PATIENT),
      unreachable: () => none.store(space, { timeout: 1000 }),
    },
    {
      store: () => one.store(space, { ...PATIENT, ...OLDER }),
      other: () => another.store(space, { ...PATIENT, ...OLDER }),
    },
  );
}
