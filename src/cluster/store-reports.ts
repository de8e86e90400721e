import type { Clock } from '../time/clock.ts';
import type { OwnMember } from './fleet-report.ts';
import { InstanceReporter, type NextReport } from './instance-reporter.ts';
import type { InstanceReport } from './store-contract.ts';
import { WeakMembers } from './weak-members.ts';

/** A member, as the reports of its instance show it. */
export interface Reporting {
  /** @param written the tokens of the writes in the command that carries the report. */
  reported(written: ReadonlySet<number>): OwnMember;
  /** Of a task, which is not read in between: from one execution to the next, in milliseconds. */
  readonly roundsEveryMs?: number | undefined;
}

/** The destination of the reports. */
export interface ReportCarrier {
  /** Whether a report goes in the command of a read or a write. Known for certain once a command was sent. */
  readonly sharesCommands: boolean;
}

/** No write is in the command. */
const NONE: ReadonlySet<number> = new Set();

/** A round carries a report where none was made for twice the time between two checks, or for this time. */
const APART_MS = 5000;

/**
 * The reports that this instance leaves in a store: of the members that use the store object, in the commands that these send
 * anyway. Checks have reports of their own; the reads and writes of rounds carry one where no check will soon.
 */
export class StoreReports {
  /** The time between two checks; `Infinity`: no member has joined yet. */
  checksEveryMs: number = Infinity;
  readonly #records: ReportCarrier;
  readonly #reporter: InstanceReporter = new InstanceReporter();
  /** When the last one was made, to be left or not (monotonic). */
  #madeAt: number = -Infinity;
  /** One has shown a version or a failure, or was the second: from then on they are apart. */
  #hasNews = false;
  readonly #members: WeakMembers<Reporting, undefined> = new WeakMembers();
  #clock: Clock | undefined;
  /** Commands with a report that have no answer yet. */
  readonly #underWay: Set<Promise<unknown>> = new Set();

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
    this.#members.set(member, undefined);
  }

  /** @returns whether there are no members any more. */
  leave(member: Reporting): boolean {
    this.#members.delete(member);
    return this.isEmpty;
  }

  get isEmpty(): boolean {
    return this.#present.length === 0;
  }

  /** Takes the last report back, once all commands with one have an answer; `undefined`: none was sent. */
  async withdrawal(): Promise<InstanceReport | undefined> {
    await Promise.allSettled(this.#underWay);
    return this.isEmpty ? this.#reporter.withdrawal() : undefined;
  }

  /** The report of a check: see {@link InstanceReporter.next}. */
  next(now: number, isForced: boolean = false): NextReport | undefined {
    return this.#next(now, this.#reported(NONE), isForced);
  }

  /** @param written the tokens of the writes in the command that carries the report. */
  #reported(written: ReadonlySet<number>): readonly OwnMember[] {
    return this.#present.map((member) => member.reported(written));
  }

  #next(now: number, members: readonly OwnMember[], isForced: boolean): NextReport | undefined {
    this.#hasNews ||= this.#madeAt > -Infinity || members.some(isNews);
    this.#madeAt = now;
    return this.#reporter.next(members, now, this.#everyMs, isForced);
  }

  /**
   * Asks the store for a round, with a report where one is to be left.
   *
   * @param tokens those of the writes, in a command of them.
   * @param isClaim it may be followed by a write, whose report says more.
   */
  async carry<R>(
    step: (report: InstanceReport | undefined) => Promise<R>,
    tokens: readonly (number | undefined)[],
    isClaim: boolean,
  ): Promise<R> {
    const madeAt = this.#madeAt;
    const next = this.#nextOfRound(tokens);
    if (isClaim) this.#madeAt = madeAt;
    if (next === undefined) return step(undefined);
    const answered = step(next.report);
    this.#underWay.add(answered);
    try {
      const answer = await answered;
      if (this.#records.sharesCommands) next.left(); // it may be known by now that it takes none
      return answer;
    } finally {
      this.#underWay.delete(answered);
    }
  }

  #nextOfRound(tokens: readonly (number | undefined)[]): NextReport | undefined {
    const now = this.#clock?.monotonic();
    const isIdle = this.isEmpty || !this.#records.sharesCommands;
    if (now === undefined || isIdle) return undefined;
    const isSoon = this.#isSoon(now);
    if (isSoon && this.#hasNews) return undefined;
    const members = this.#reported(new Set(tokens.filter((token) => token !== undefined)));
    return isSoon && !members.some(isNews) ? undefined : this.#next(now, members, false);
  }

  /** The last one was made lately. */
  #isSoon(now: number): boolean {
    return now - this.#madeAt < Math.min(2 * this.checksEveryMs, APART_MS);
  }

  /** How long it may be until the next report: of an instance with tasks alone their shortest period. */
  get #everyMs(): number {
    const periods = this.#present.map(({ roundsEveryMs = 0 }) => roundsEveryMs);
    return Math.max(this.checksEveryMs, periods.length === 0 ? 0 : Math.min(...periods));
  }

  get #present(): readonly Reporting[] {
    return Array.from(this.#members, ([member]) => member);
  }
}

/** It has a version, or none because loads fail. A value may be there before: an initial one. */
function isNews({ kind, version, takingOver = 0, failures }: OwnMember): boolean {
  return kind === 'value' && (version !== undefined || takingOver > 0 || failures > 0);
}
