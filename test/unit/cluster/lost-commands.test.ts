import { expect, it } from 'vitest';
import { lockAccess } from '../../../src/cluster/joined-steps.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const TIMEOUT_MS = 1000;

it('commands that an adapter never settles hold no places any longer once the backend was silent', async () => {
  const clock = new FakeClock();
  const never = (): Promise<never> => new Promise(() => {});
  let acquires: () => Promise<never> = never;
  let asked = 0;
  const acquire = (): Promise<never> => {
    asked += 1;
    return acquires();
  };
  const unused = never as () => Promise<never>;
  const access = lockAccess(
    {
      leaseFor: 10_000,
      longestName: undefined,
      acquire,
      extend: unused,
      release: unused,
      acquireMany: unused,
      releaseMany: unused,
    },
    TIMEOUT_MS,
  );
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
  acquires = async () =>
    ({ kind: 'held', retryAfter: 1, heldFor: 1, owner: 'o', host: 'h', token: 1, now: 0 }) as never;
  const answer = ask('5');
  await clock.advance(10);
  expect([asked, await answer]).toEqual([5, expect.objectContaining({ kind: 'held' })]);
});
