import type { ReportedMember } from '../data/fleet.ts';
import { reportOf } from './fleet-report.ts';
import { newInstance, thisHost } from './identity.ts';
import type { InstanceReport } from './store-contract.ts';

/** A report lasts for as many checks, so that one that was lost takes no instance out of the fleet. */
const LASTS_CHECKS = 3;

/** Nor does an instance that is read every ten seconds leave the fleet between its reads. */
const SHORTEST_MS = 15_000;

/** A report is renewed in this part of the time that it lasts. */
const RENEWED_IN = 1 / 3;

/** A report that replaces the one before, and is over at once. */
const WITHDRAWN = { text: '-', keepFor: 1 };

/** The reports that one instance leaves in a store: when it leaves one, and how long each lasts. */
export class InstanceReporter {
  #id: string | undefined;
  #startedAt: number | undefined;
  /** The last one that the store has for certain. */
  #last: { readonly gist: string; readonly at: number } | undefined;

  /** The store may have one. */
  #isSent = false;

  /** The instance has a member from then on (monotonic). Only the first call counts. */
  starts(now: number): void {
    this.#startedAt ??= now;
  }

  /** Made on first use. */
  get id(): string {
    this.#id ??= newInstance();
    return this.#id;
  }

  /**
   * The report to be left now; `undefined`: it would say nothing new, and the last one need not be renewed yet.
   *
   * @param now the monotonic clock.
   * @param withinMs the time between two checks.
   * @param isForced leaves one in any case.
   */
  next(
    members: readonly ReportedMember[],
    now: number,
    withinMs: number,
    isForced: boolean = false,
  ): { readonly report: InstanceReport; readonly left: () => void } | undefined {
    const keepFor = Math.max(SHORTEST_MS, LASTS_CHECKS * withinMs);
    const upFor = now - (this.#startedAt ?? now);
    const { text, gist } = reportOf({ host: thisHost(), upFor }, members);
    const isLate = now + withinMs > (this.#last?.at ?? Number.NEGATIVE_INFINITY) + keepFor * RENEWED_IN;
    if (!isForced && !isLate && gist === this.#last?.gist) return undefined;
    this.#isSent = true;
    const left = (): void => {
      this.#last = { gist, at: now };
    };
    return { report: { instance: this.id, text, keepFor }, left };
  }

  /** Takes the last report back; `undefined`: none was sent. */
  withdrawal(): InstanceReport | undefined {
    if (!this.#isSent) return undefined;
    this.#isSent = false;
    this.#last = undefined;
    return { instance: this.id, ...WITHDRAWN };
  }
}
