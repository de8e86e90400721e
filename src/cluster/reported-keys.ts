import type { PolledKeys } from '../engine/coordinator.ts';
import type { ClusterMember } from './cluster-member.ts';
import { type OwnMember, reasonIn } from './fleet-report.ts';
import type { Reporting } from './store-reports.ts';

/** The cache. */
type KeyedMember = Pick<ClusterMember, 'options' | 'events'>;

/** A cache without marks of other instances, as reports show it. */
export class ReportedKeys implements Reporting {
  readonly #member: KeyedMember;
  readonly #keys: PolledKeys;

  constructor(member: KeyedMember, keys: PolledKeys) {
    this.#member = member;
    this.#keys = keys;
  }

  reported(): OwnMember {
    return reportedKeys(this.#member, this.#keys, 0);
  }
}

/** @param version that of the last mark which is known; 0: none is. */
export function reportedKeys(
  { options: { name }, events: { executions } }: KeyedMember,
  keys: PolledKeys,
  version: number,
): OwnMember {
  const failing = keys.failing();
  const error = failing[0]?.lastError;
  return {
    name,
    kind: 'cache',
    version: version || undefined,
    takingOver: undefined,
    age: undefined,
    failures: failing.length,
    error: error && reasonIn(error),
    pinned: undefined,
    refused: undefined,
    executions,
  };
}
