import type { LockProvider } from '../../../src/cluster/lock-contract.ts';
import { type Backend, lockOf } from '../../../src/engine/backend.ts';
import type { LockLike } from '../../../src/engine/coordinator.ts';
import { present } from '../../../src/testing/assert.ts';
import type { LockSubject } from '../../../src/testing/index.ts';
import type { Case, LockCaseContext } from '../../../src/testing/lock/case-context.ts';

/** The fields that a test edits. */
export type DamagedField = 'token' | 'leaseUntil' | 'notBefore' | 'state';

/** The lock of a backend; cases that need more of it than it gives are left out. */
export interface BackendSubject extends LockSubject {
  /** Returns one that is unreachable, for example on a closed port. */
  unreachable?(): Backend | LockLike | Promise<Backend | LockLike>;
  /** Deletes the record of a name without the lock, as a loss of data does. */
  forget?(name: string): void | Promise<void>;
  /**
   * Edits the record of a name without the lock, as a person does by hand: `token` becomes 2^53 - 2, `leaseUntil` and
   * `notBefore` an instant in two years or later, `state` a text that is none of the states.
   */
  damage?(name: string, field: DamagedField): void | Promise<void>;
}

/** A case of the lock of a backend. */
export interface BackendCase extends Case {
  /** @default nothing */
  readonly needs?: 'unreachable' | 'forget' | 'damage' | undefined;
}

export function subjectOf({ subject }: LockCaseContext): BackendSubject {
  return subject;
}

/** The lock of an unreachable backend. */
export async function unreachableIn(context: LockCaseContext): Promise<LockProvider> {
  return lockOf(present(await subjectOf(context).unreachable?.(), 'unreachable')) as LockProvider;
}
