import { expect, it } from 'vitest';
import { accessOf, type BackendAccess } from '../../../src/cluster/backend-access.ts';
import type { LockSteps } from '../../../src/cluster/backend-steps.ts';
import { createLock } from '../../../src/lock/create-lock.ts';
import type { Records } from '../../../src/records/records.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const TIMEOUT_MS = 1000;

it('commands that an adapter never settles hold no places any longer once the backend was silent', async () => {
  const clock = new FakeClock();
  const never = (): Promise<never> => new Promise(() => {});
  let apply: Records['apply'] = never;
  let asked = 0;
  const records: Records = {
    mostEdits: 500,
    sharesCommands: true,
    apply(edits) {
      asked += 1;
      return apply(edits);
    },
    list: never,
    editions: never,
  };
  const lock = createLock(records, { timeout: TIMEOUT_MS }, { options: [] });
  const access = accessOf<LockSteps>(lock) as BackendAccess<LockSteps>;
  const ask = (name: string): Promise<unknown> => {
    const request = { name, requestId: name, owner: 'o', host: 'h', leaseFor: 10_000, force: false };
    const limits = { silenceMs: TIMEOUT_MS };
    return access.answers
      .wait(() => access.steps.acquire(request), clock, limits)
      .catch((error) => error.message);
  };
  const lost: Promise<unknown>[] = [];
  for (const name of ['1', '2', '3', '4']) {
    lost.push(ask(name));
    await clock.advance(10); // a command each
  }
  await clock.advance(TIMEOUT_MS);
  expect(asked).toBe(4);
  expect(new Set(await Promise.all(lost))).toEqual(new Set(['no answer within 1 s']));
  const row = { token: 1, id: 'another', phase: 'leased', text: '', note: '' } as const;
  const held = { isDone: false, row: { ...row, age: 1, changedAgo: 1, left: 1 } };
  apply = async () => ({ now: 0, answers: [held] });
  const answer = ask('5');
  await clock.advance(10);
  expect([asked, await answer]).toEqual([5, expect.objectContaining({ kind: 'held' })]);
});
