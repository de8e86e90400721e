import type { MemberName, ReportedMember } from '../data/fleet.ts';
import type { PolledKeys } from '../engine/coordinator.ts';
import { reasonIn } from './fleet-report.ts';
import type { Reporting } from './store-reports.ts';

/** A cache without marks of other instances, as reports show it. */
export class ReportedKeys implements Reporting {
  /** Each key has its own. */
  readonly roundsEveryMs: undefined;
  readonly #name: MemberName;
  readonly #keys: PolledKeys;

  constructor(name: MemberName, keys: PolledKeys) {
    this.#name = name;
    this.#keys = keys;
  }

  get willAskStore(): boolean {
    return false;
  }

  reported(): ReportedMember {
    return reportedKeys(this.#name, this.#keys, 0);
  }
}

/** @param version that of the last mark which is known; 0: none is. */
export function reportedKeys(
  { name, namespace }: MemberName,
  keys: PolledKeys,
  version: number,
): ReportedMember {
  const failing = keys.failing();
  const error = failing[0]?.lastError;
  return {
    name,
    namespace,
    kind: 'cache',
    version: version || undefined,
    takingOver: undefined,
    age: undefined,
    failures: failing.length,
    error: error && reasonIn(error),
    pinned: undefined,
    quarantine: undefined,
  };
}
