import { coordinationKey } from '../engine/coordination-key.ts';
import type { Coordination, MemberBackends, Membership } from '../engine/coordinator.ts';
import { accessOf, type BackendAccess } from './backend-access.ts';
import type { LockSteps, StoreSteps } from './backend-steps.ts';
import { ClusterMember } from './cluster-member.ts';
import { MemberCoordinator } from './member-coordinator.ts';
import { ServerClock } from './server-clock.ts';
import type { StoreAccess } from './store-access.ts';

/** The coordination that a lock or a store object carries: the access to its backend, and the code for its members. */
class BackendCoordination<S> implements Coordination {
  readonly access: BackendAccess<S>;

  constructor(access: BackendAccess<S>) {
    this.access = access;
  }

  join({ lock, store, clock }: MemberBackends): Membership {
    const lockAccess = accessOf<LockSteps>(lock);
    const storeAccess = accessOf<StoreSteps>(store) as StoreAccess | undefined;
    const serverClock = lock === undefined ? undefined : new ServerClock(clock);
    return {
      hasStore: store !== undefined,
      now: () => (serverClock ?? clock).now(),
      coordinator: (options, events, timing) =>
        new MemberCoordinator(
          new ClusterMember(options, events, timing, lockAccess, storeAccess, serverClock),
        ),
    };
  }
}

/**
 * Puts the coordination on a lock or a store object. The property is not enumerable: a copy such as
 * `{ ...lock, acquire }` is another object, whose own methods are to be used, so it needs `asLock` again.
 */
export function withCoordination<B extends object, S>(backend: B, access: BackendAccess<S>): B {
  return Object.defineProperty(backend, coordinationKey, { value: new BackendCoordination(access) });
}
