import { randomId } from '../../../src/cluster/identity.ts';
import { rejects } from '../../../src/testing/assert.ts';
import { withTimeout } from '../../../src/time/with-timeout.ts';
import { type BackendCase, unreachableIn } from './backend-case.ts';

/** An unreachable backend. */
export const UNREACHABLE: readonly BackendCase[] = [
  {
    name: 'unreachable: each step rejects with BACKEND_DOWN, within ten seconds',
    needs: 'unreachable',
    async run(context) {
      const { name } = context;
      const lock = await unreachableIn(context);
      const lease = { name, requestId: randomId(), token: 1 };
      const requests = [
        rejects(lock.acquire(context.request()), 'BACKEND_DOWN', 'acquire'),
        rejects(lock.extend(lease, 1000), 'BACKEND_DOWN', 'extend'),
        rejects(lock.release(lease, { as: 'done', holdFor: 0 }), 'BACKEND_DOWN', 'release'),
        rejects(lock.inspect(name), 'BACKEND_DOWN', 'inspect'),
        rejects(lock.list(), 'BACKEND_DOWN', 'list'),
        rejects(lock.forceRelease(name, 1), 'BACKEND_DOWN', 'forceRelease'),
      ];
      await withTimeout(() => Promise.all(requests), 10_000);
    },
  },
];
