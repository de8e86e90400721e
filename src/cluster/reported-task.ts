import type { Entry } from '../engine/entry.ts';
import { passToPlatform } from '../observe/wait-until.ts';
import type { ClusterMember } from './cluster-member.ts';
import { type OwnMember, reasonIn } from './fleet-report.ts';
import type { Reporting } from './store-reports.ts';

/**
 * A task, as reports show it. It reads and writes nothing in the store that could carry a report, so each execution leaves one, by a
 * command of its own, where it says something new or the last one is to be renewed.
 */
export class ReportedTask implements Reporting {
  readonly #member: ClusterMember;
  readonly #entry: Entry<unknown>;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(member: ClusterMember, entry: Entry<unknown>) {
    this.#member = member;
    this.#entry = entry;
  }

  get roundsEveryMs(): number | undefined {
    const everyMs = this.#entry.dueAt - this.#entry.loadedAt;
    return everyMs > 0 && everyMs < Infinity ? everyMs : undefined;
  }

  reported(): OwnMember {
    const { name, clock } = this.#member.options;
    const { isLoaded, isInitial, loadedAt, failures, lastError } = this.#entry;
    const age = Math.max(0, clock.monotonic() - loadedAt);
    return {
      name,
      kind: 'executor',
      version: undefined,
      takingOver: undefined,
      age: isLoaded && !isInitial && age < Infinity ? age : undefined,
      failures,
      error: failures > 0 && lastError !== undefined ? reasonIn(lastError) : undefined,
      pinned: undefined,
      refused: undefined,
      executions: this.#member.events.executions,
    };
  }

  /** Leaves a report behind an execution. A store that can't be asked, or keeps no reports, changes nothing. */
  leave(): void {
    const member = this.#member;
    const { waitUntil, logger } = member.options;
    this.#underWay = this.#underWay.then(() => member.reports?.report(member, false)).catch(() => {});
    if (waitUntil !== undefined) passToPlatform(waitUntil, this.#underWay as Promise<void>, logger);
  }

  /** None is on its way any more. Never rejects. */
  async close(): Promise<void> {
    await this.#underWay;
  }
}
