import { type OwnMember, reportOf } from './fleet-report.ts';
import { newInstance, thisHost } from './identity.ts';
import type { InstanceReport } from './store-contract.ts';

/** A report lasts for as many checks or rounds, so that one that was lost takes no instance out of the fleet. */
const LASTS_TIMES = 3;

/** That of an instance whose rounds are further apart is over before the next one. */
const LONGEST_MS = 7 * 86_400_000;

/** Nor does an instance that is read every ten seconds leave the fleet between its reads. */
const SHORTEST_MS = 15_000;

/** A report is renewed in this part of the time that it lasts. */
const RENEWED_IN = 1 / 3;

/**
 * The store keeps a report at least this long: an instance that is not read is shown as idle for a while. Nothing waits for it
 * then.
 */
const IDLE_MS = 10 * 60_000;

/** A report that replaces the one before, and is over at once. */
const WITHDRAWN = { text: '-', keepFor: 1 };

/** A report to be left. `left`: the store has it. */
export interface NextReport {
  readonly report: InstanceReport;
  /** Its text without ages, which change by themselves. */
  readonly fingerprint: string;
  readonly left: () => void;
}

/** The reports that one instance leaves in a store: when it leaves one, and how long each lasts. */
export class InstanceReporter {
  #id: string | undefined;
  #startedAt: number | undefined;
  /** The last one that the store has for certain. */
  #last: { readonly fingerprint: string; readonly at: number } | undefined;

  /** The store may have one. */
  #isSent = false;

  /** Of the last one: they may arrive in another order. */
  #serial = 0;

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
   * @param everyMs the time between two checks.
   * @param isForced leaves one in any case.
   */
  next(
    members: readonly OwnMember[],
    now: number,
    everyMs: number,
    isForced: boolean = false,
  ): NextReport | undefined {
    const lasts = Math.min(Math.max(SHORTEST_MS, LASTS_TIMES * everyMs), LONGEST_MS);
    const upFor = now - (this.#startedAt ?? now);
    const { text, fingerprint } = reportOf({ host: thisHost(), upFor, lasts }, members);
    const isLate = now + everyMs > (this.#last?.at ?? -Infinity) + lasts * RENEWED_IN;
    if (!isForced && !isLate && fingerprint === this.#last?.fingerprint) return undefined;
    this.#isSent = true;
    const left = (): void => {
      this.#last = { fingerprint, at: now };
    };
    this.#serial += 1;
    const keepFor = Math.max(lasts, IDLE_MS);
    return { report: { instance: this.id, text, keepFor, serial: this.#serial }, fingerprint, left };
  }

  /** Takes the last report back; `undefined`: none was sent. */
  withdrawal(): InstanceReport | undefined {
    if (!this.#isSent) return undefined;
    this.#isSent = false;
    this.#last = undefined;
    this.#serial += 1;
    return { instance: this.id, ...WITHDRAWN, serial: this.#serial };
  }
}
