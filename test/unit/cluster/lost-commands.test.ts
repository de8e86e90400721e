import { expect, it } from 'vitest';
import { accessOf, type BackendAccess } from '../../../src/cluster/backend-access.ts';
import type { LockSteps } from '../../../src/cluster/backend-steps.ts';
import type { Records } from '../../../src/records/records.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { lockOn } from '../../support/parts.ts';

const TIMEOUT_MS = 1000;

/** A lock whose commands never settle, at first. */
function silentLock() {
  const clock = new FakeClock();
  const never = (): Promise<never> => new Promise(() => {});
  const backend = { apply: never as Records['apply'], asked: 0 };
  const records: Records = {
    mostEdits: 500,
    sharesCommands: true,
    apply(edits) {
      backend.asked += 1;
      return backend.apply(edits);
    },
    list: never,
    editions: never,
  };
  const lock = lockOn(records, { timeout: TIMEOUT_MS }, { options: [], clock });
  const access = accessOf<LockSteps>(lock) as BackendAccess<LockSteps>;
  const ask = (name: string): Promise<unknown> => {
    const request = { name, requestId: name, owner: 'o', host: 'h', leaseFor: 10_000, force: false };
    const limits = { silenceMs: TIMEOUT_MS };
    return access.answers
      .wait(() => access.steps.acquire(request), clock, limits)
      .catch((error) => error.message);
  };
  return { clock, backend, lock, ask };
}

const ROW = {
  token: 1,
  id: 'another',
  phase: 'leased',
  text: '',
  note: '',
  age: 1,
  changedAgo: 1,
  left: 1,
} as const;
const HELD: Records['apply'] = async (edits) => ({
  now: 0,
  answers: edits.map(() => ({ isDone: false, row: ROW })),
});

it('commands that an adapter never settles hold no places any longer once the backend was silent', async () => {
  const { clock, backend, ask } = silentLock();
  const lost: Promise<unknown>[] = [];
  for (const name of ['1', '2', '3', '4']) {
    lost.push(ask(name));
    await clock.advance(10); // a command each
  }
  await clock.advance(TIMEOUT_MS);
  expect(backend.asked).toBe(4);
  expect(new Set(await Promise.all(lost))).toEqual(new Set(['no answer within 1 s']));
  backend.apply = HELD;
  const answer = ask('5');
  await clock.advance(10);
  expect([backend.asked, await answer]).toEqual([5, expect.objectContaining({ kind: 'held' })]);
});

it('a call by hand does not wait behind the commands of members, nor behind lost ones of its own', async () => {
  const { clock, backend, lock, ask } = silentLock();
  for (const name of ['1', '2', '3', '4', '5']) {
    void ask(name);
    await clock.advance(10);
  }
  expect(backend.asked).toBe(4); // the fifth waits
  const lost = ['a', 'b', 'c', 'd', 'e'].map((name) => lock.acquire({ name }).catch((error) => error.code));
  await clock.advance(10);
  expect(backend.asked).toBe(5); // all in one
  backend.apply = HELD;
  const inspected = lock.inspect('a');
  await clock.advance(10);
  expect(await inspected).toMatchObject({ state: 'running' });
  await clock.advance(TIMEOUT_MS);
  expect(new Set(await Promise.all(lost))).toEqual(new Set(['BACKEND_DOWN']));
});

it('a call by hand that fails gives no place back but its own', async () => {
  const { clock, backend, lock } = silentLock();
  const never = backend.apply;
  const ask = async (name: string, apply: Records['apply'] = never): Promise<void> => {
    backend.apply = apply;
    void lock.acquire({ name }).catch(() => {});
    await clock.advance(10);
  };
  for (const name of ['1', '2', '3']) await ask(name);
  await ask('fails', () =>
    Promise.reject(Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' })),
  );
  for (const name of ['4', '5', '6']) await ask(name);
  expect(backend.asked).toBe(5); // of the last three one
});
