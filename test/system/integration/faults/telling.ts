import { setTimeout as sleep } from 'node:timers/promises';
import { accessOf } from '../../../../src/cluster/backend-access.ts';
import type { LockSteps, SnapshotChange, StoreSteps } from '../../../../src/cluster/backend-steps.ts';
import type { LeaseId, LockProvider, ReleaseOutcome } from '../../../../src/cluster/lock-contract.ts';
import type { Store } from '../../../../src/cluster/store-contract.ts';
import { monotonic, type Step, type Telling } from './messages.ts';

/** Tells the parent of this process, if it is still there. */
export function tell(telling: Telling): void {
  if (process.connected) process.send?.({ at: monotonic(), ...telling });
}

/** What is told of an answer. */
interface Shown {
  readonly step: Step;
  readonly answer: string;
  readonly token?: number;
}

async function telling<R>(
  step: Step,
  name: string,
  token: number | undefined,
  ask: () => Promise<R>,
  shown: (answer: R) => readonly Shown[],
): Promise<R> {
  const begunAt = monotonic();
  const about = { name, begunAt, ...(token === undefined ? {} : { token }) };
  try {
    const answer = await ask();
    for (const one of shown(answer)) tell({ kind: 'step', ...about, ...one, took: monotonic() - begunAt });
    return answer;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    tell({ kind: 'step', step, ...about, answer: message, took: monotonic() - begunAt });
    throw error;
  }
}

/**
 * Members that use them tell of each step of a lock and a store from now on.
 *
 * @param heldFor milliseconds that a write lies on its way.
 */
export function tellSteps(lock: LockProvider, store: Store, heldFor: () => number): void {
  const hold = async (token: number = 0): Promise<void> => {
    const held = heldFor();
    if (held === 0) return;
    tell({ kind: 'write-held', token });
    await sleep(held);
  };
  tellLock(stepsOf<LockSteps>(lock), hold);
  tellStore(stepsOf<StoreSteps>(store));
}

function stepsOf<S>(of: LockProvider | Store): S {
  const access = accessOf<S>(of);
  if (access === undefined) throw new Error('it is not of a backend');
  return access.steps;
}

type Hold = (token: number | undefined) => Promise<void>;

function tellLock(steps: LockSteps, hold: Hold): void {
  const { acquire, extend, release, settle } = steps;
  Object.assign(steps, {
    acquire: (request) =>
      telling(
        'acquire',
        request.name,
        undefined,
        () => acquire.call(steps, request),
        (answer) => [
          {
            step: 'acquire',
            answer: answer.kind,
            token: answer.kind === 'acquired' ? answer.lease.token : answer.token,
          },
        ],
      ),
    extend: (lease, leaseFor) =>
      telling(
        'extend',
        lease.name,
        lease.token,
        () => extend.call(steps, lease, leaseFor),
        (is) => [{ step: 'extend', answer: String(is) }],
      ),
    release: (lease, outcome) =>
      telling(
        'release',
        lease.name,
        lease.token,
        () => release.call(steps, lease, outcome),
        (is) => [{ step: 'release', answer: `${outcome.as}: ${is}` }],
      ),
    ...(settle && {
      settle: async (lease: LeaseId, outcome: ReleaseOutcome, change: SnapshotChange) => {
        await hold(lease.token);
        return telling(
          'write',
          lease.name,
          lease.token,
          () => settle.call(steps, lease, outcome, change),
          ({ written, isReleased }) => [
            { step: 'write', answer: written.kind },
            { step: 'release', answer: `${outcome.as}: ${isReleased}` },
          ],
        );
      },
    }),
  } satisfies Partial<LockSteps>);
}

function tellStore(steps: StoreSteps): void {
  const { read } = steps;
  Object.assign(steps, {
    read: (name: string, ...rest: [newerThan?: number, version?: number]) =>
      telling(
        'read',
        name,
        undefined,
        () => read.call(steps, name, ...rest),
        (found) => [
          { step: 'read', ...(found ? { answer: 'found', token: found.version } : { answer: 'none' }) },
        ],
      ),
  } satisfies Partial<StoreSteps>);
}
