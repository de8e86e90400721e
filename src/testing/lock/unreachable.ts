import { randomId } from '../../cluster/identity.ts';
import { isLockUnavailableError } from '../../errors.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import { rejects } from '../assert.ts';
import type { Case } from './case-context.ts';

/** An unreachable backend. */
export const UNREACHABLE: readonly Case[] = [
  {
    name: 'unreachable: each step rejects with LockUnavailableError, within ten seconds',
    needs: 'unreachable',
    async run(context) {
      const { name } = context;
      const lock = await context.unreachable();
      const lease = { name, requestId: randomId(), token: 1 };
      const requests = [
        rejects(lock.acquire(context.request()), isLockUnavailableError, 'acquire'),
        rejects(lock.extend(lease, 1000), isLockUnavailableError, 'extend'),
        rejects(lock.release(lease, { as: 'done', holdFor: 0 }), isLockUnavailableError, 'release'),
        rejects(lock.inspect(name), isLockUnavailableError, 'inspect'),
        rejects(lock.list(), isLockUnavailableError, 'list'),
        rejects(lock.forceRelease(name, 1), isLockUnavailableError, 'forceRelease'),
      ];
      await withTimeout(() => Promise.all(requests), 10_000);
    },
  },
];
