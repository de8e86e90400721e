import type { ReportedMember } from '../data/fleet.ts';
import type { Clock } from '../time/clock.ts';
import { InstanceReporter, type NextReport } from './instance-reporter.ts';
import { REPORT_EVERY_MS, ReportBudget } from './report-budget.ts';
import type { InstanceReport } from './store-contract.ts';

/** A member, as the reports of its instance show it. */
export interface Reporting {
  /** @param written the tokens of the writes in the command that carries the report. */
  reported(written: ReadonlySet<number>): ReportedMember;
  /** From one of its rounds to the next, in milliseconds; `undefined`: not known. */
  readonly roundsEveryMs: number | undefined;
  /** A round of it will soon ask the store, at the latest at that instant (monotonic). */
  asksBefore(instant: number): boolean;
}

/** The destination of the reports. */
export interface ReportCarrier {
  /** Whether a report goes in the command of a read or a write. Known for certain once a command was sent. */
  readonly sharesCommands: boolean;
}

/** No write is in the command. */
const NONE: ReadonlySet<number> = new Set();

/** With `propagateWithin` a round carries a report only if no check has sent one for twice that time, at most for this long. */
const SOON_MS = 5000;

/** The rounds of an instance whose members have no value yet: from one to the next. */
const UNKNOWN_MS = 200_000;

/**
 * The reports that this instance leaves in a store: of the members that use the store object, in the commands that these send
 * anyway. Checks have reports of their own; the reads and writes of rounds carry one where no check will soon.
 *
 * If the budget is spent and another member's round will query the store soon, the report waits for that round.
 */
export class StoreReports {
  /** The time between two checks; `Infinity`: there are none. */
  checksEveryMs: number = Number.POSITIVE_INFINITY;
  readonly #records: ReportCarrier;
  readonly #reporter: InstanceReporter = new InstanceReporter();
  readonly #budget: ReportBudget = new ReportBudget();
  /** It keeps no member alive that is no longer used, and was not closed. */
  readonly #members: Set<WeakRef<Reporting>> = new Set();
  readonly #refs: WeakMap<Reporting, WeakRef<Reporting>> = new WeakMap();
  #clock: Clock | undefined;
  /** Reports that have no answer yet, by what they say; after a while they are not believed to have one any more. */
  readonly #underWay: Map<string, { readonly answered: Promise<unknown>; readonly sentAt: number }> =
    new Map();

  constructor(records: ReportCarrier) {
    this.#records = records;
  }

  /** The id of this instance in its reports. */
  get instance(): string {
    return this.#reporter.id;
  }

  join(member: Reporting, clock: Clock): void {
    this.#clock ??= clock;
    this.#reporter.starts(clock.monotonic());
    const ref = new WeakRef(member);
    this.#members.add(ref);
    this.#refs.set(member, ref);
  }

  /** @returns whether there are no members any more. */
  leave(member: Reporting): boolean {
    const ref = this.#refs.get(member);
    if (ref !== undefined) this.#members.delete(ref);
    return this.isEmpty;
  }

  get isEmpty(): boolean {
    return this.#present.length === 0;
  }

  /** Takes the last report back, once all commands with one have an answer; `undefined`: none was sent. */
  async withdrawal(): Promise<InstanceReport | undefined> {
    await Promise.allSettled(Array.from(this.#underWay.values(), ({ answered }) => answered));
    return this.isEmpty ? this.#reporter.withdrawal() : undefined;
  }

  /** The report of a check: see {@link InstanceReporter.next}. */
  next(now: number, isForced: boolean = false): NextReport | undefined {
    return this.#spent(now, this.#make(now, isForced));
  }

  #make(now: number, isForced: boolean, written: ReadonlySet<number> = NONE): NextReport | undefined {
    const members = this.#present;
    const reported = members.map((member) => member.reported(written));
    return this.#reporter.next(reported, now, this.#everyMs(members), isForced);
  }

  #spent(now: number, next: NextReport | undefined): NextReport | undefined {
    this.#budget.spend(now, next?.report.text.length ?? 0);
    return next;
  }

  /**
   * Asks the store for a round, with a report where one is to be left.
   *
   * @param tokens those of the writes, in a command of them.
   */
  async carry<R>(
    step: (report: InstanceReport | undefined) => Promise<R>,
    ...tokens: (number | undefined)[]
  ): Promise<R> {
    const next = this.#nextOfRound(tokens);
    if (next === undefined) return step(undefined);
    const answered = step(next.report);
    this.#underWay.set(next.fingerprint, { answered, sentAt: this.#budget.madeAt });
    try {
      const answer = await answered;
      if (this.#records.sharesCommands) next.left(); // it may be known by now that it takes none
      return answer;
    } finally {
      this.#underWay.delete(next.fingerprint);
    }
  }

  #nextOfRound(tokens: readonly (number | undefined)[]): NextReport | undefined {
    const now = this.#clock?.monotonic();
    const isIdle = this.isEmpty || !this.#records.sharesCommands;
    if (now === undefined || isIdle || !this.#mayReport(now)) return undefined;
    const written = new Set(tokens.filter((token) => token !== undefined));
    const next = this.#make(now, false, written);
    const { sentAt = Number.NEGATIVE_INFINITY } = this.#underWay.get(next?.fingerprint ?? '') ?? {};
    return this.#spent(now, now < sentAt + REPORT_EVERY_MS ? undefined : next);
  }

  #mayReport(now: number): boolean {
    const budget = this.#budget;
    if (this.checksEveryMs < Infinity)
      return now >= budget.madeAt + Math.min(2 * this.checksEveryMs, SOON_MS);
    if (budget.allows(now)) return true;
    const soon = now + REPORT_EVERY_MS;
    return budget.allowsLast(now) && !this.#present.some((member) => member.asksBefore(soon));
  }

  /** How long it may be until the next report. */
  #everyMs(members: readonly Reporting[]): number {
    if (this.checksEveryMs < Infinity) return this.checksEveryMs;
    const shortest = Math.min(...members.map(({ roundsEveryMs = Infinity }) => roundsEveryMs));
    return shortest === Infinity ? UNKNOWN_MS : shortest;
  }

  get #present(): readonly Reporting[] {
    const present: Reporting[] = [];
    for (const ref of this.#members) {
      const member = ref.deref();
      if (member === undefined) this.#members.delete(ref);
      else present.push(member);
    }
    return present;
  }
}
