import { setTimeout as sleep } from 'node:timers/promises';
import type { LockProvider } from '../../../../src/cluster/lock-contract.ts';
import type { SnapshotStore } from '../../../../src/cluster/store-contract.ts';
import { asLock } from '../../../../src/records/lock/as-lock.ts';
import { wrapStore } from '../../../support/wrap-store.ts';
import { monotonic, type Step, type Telling } from './messages.ts';

/** Tells the parent of this process, if it is still there. */
export function tell(telling: Telling): void {
  if (process.connected) process.send?.({ at: monotonic(), ...telling });
}

async function telling<R>(
  step: Step,
  name: string,
  token: number | undefined,
  ask: () => Promise<R>,
  shown: (answer: R) => { readonly answer: string; readonly token?: number },
): Promise<R> {
  const begunAt = monotonic();
  const about = { name, begunAt, ...(token === undefined ? {} : { token }) };
  try {
    const answer = await ask();
    tell({ kind: 'step', step, ...about, ...shown(answer), took: monotonic() - begunAt });
    return answer;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    tell({ kind: 'step', step, ...about, answer: message, took: monotonic() - begunAt });
    throw error;
  }
}

/** A lock that tells of each of its steps. */
export function tellingLock(lock: LockProvider): LockProvider {
  return asLock({
    leaseFor: lock.leaseFor,
    longestName: lock.longestName,
    acquire: (request) =>
      telling(
        'acquire',
        request.name,
        undefined,
        () => lock.acquire(request),
        (answer) => ({
          answer: answer.kind,
          token: answer.kind === 'acquired' ? answer.lease.token : answer.token,
        }),
      ),
    extend: (lease, leaseFor) =>
      telling(
        'extend',
        lease.name,
        lease.token,
        () => lock.extend(lease, leaseFor),
        (is) => ({ answer: String(is) }),
      ),
    release: (lease, outcome) =>
      telling(
        'release',
        lease.name,
        lease.token,
        () => lock.release(lease, outcome),
        (is) => ({
          answer: `${outcome.as}: ${is}`,
        }),
      ),
    inspect: (name) => lock.inspect(name),
    list: (options) => lock.list(options),
    forceRelease: (name, token) => lock.forceRelease(name, token),
  });
}

/** A store that tells of each of its steps. @param heldFor milliseconds that a write lies on its way. */
export function tellingStore(store: SnapshotStore, heldFor: () => number): SnapshotStore {
  return wrapStore({
    read: (name, newerThan) =>
      telling(
        'read',
        name,
        undefined,
        () => store.read(name, newerThan),
        (found) => (found === undefined ? { answer: 'none' } : { answer: 'found', token: found.version }),
      ),
    async write(name, payload, token) {
      const held = heldFor();
      if (held > 0) {
        tell({ kind: 'write-held', token: token ?? 0 });
        await sleep(held);
      }
      return telling(
        'write',
        name,
        token,
        () => store.write(name, payload, token),
        ({ kind }) => ({ answer: kind }),
      );
    },
    delete: (name) => store.delete(name),
  });
}
