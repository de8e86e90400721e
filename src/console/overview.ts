import { failureText } from '../errors.ts';
import type { Fleet, RefreshGroup } from '../index.ts';
import { type Redact, shownJson } from './redact.ts';
import { columnsOf, type InstanceColumn, LEVELS, type MemberRow, rowMaker, servesReads } from './rows.ts';
import { ShownTexts } from './shown-texts.ts';
import { steadyRow } from './steady-row.ts';
import type { WatchTime } from './watch-time.ts';

/** All members on all instances. */
export interface Overview {
  /** Epoch milliseconds by the clock of this instance: ages count from here. */
  readonly at: number;
  readonly group: { readonly name: string; readonly closed: boolean };
  /** As `health()` of the group: reads are served. */
  readonly ok: boolean;
  /** Why the fleet is not known; left out: it is. */
  readonly fleetError?: string;
  /** Empty: no member reports to a store. */
  readonly instances: readonly InstanceColumn[];
  /** Problems first, then in the order of the group. */
  readonly members: readonly MemberRow[];
}

/** Reads the fleet at most this much of the time. */
const FLEET_SHARE = 0.1;

/** Names of members are shown as they are: an operator has to tell them apart. */
export function namesOf({
  members,
}: {
  readonly members: readonly { readonly name: string }[];
}): ReadonlySet<string> {
  return new Set(members.map(({ name }) => name));
}

/**
 * The state of a group and its fleet, the same for all operators, whatever their rights. Starts no load. A row
 * is made and redacted again where it has changed; where that takes more than its share of the time, the last overview is
 * shared meanwhile.
 */
export class Overviews {
  readonly #group: RefreshGroup;
  readonly #time: WatchTime;
  readonly #redact: Redact;
  readonly #shown: ShownTexts;
  #fleet: { readonly fleet?: Fleet; readonly error?: string; readonly nextAt: number } = { nextAt: 0 };
  #reading: Promise<void> | undefined;
  #making: Promise<Overview> | undefined;
  #last: Overview | undefined;
  readonly #texts: WeakMap<MemberRow, string> = new WeakMap();
  readonly #heads: WeakMap<Overview, string> = new WeakMap();

  constructor(group: RefreshGroup, time: WatchTime, redact: Redact) {
    this.#group = group;
    this.#redact = redact;
    this.#shown = new ShownTexts(redact);
    this.#time = time;
  }

  /** Callers at the same time share one. Never rejects. */
  now(): Promise<Overview> {
    if (this.#last !== undefined && this.#time.waitMs > 0) return Promise.resolve(this.#last);
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<Overview> {
    const group = this.#group;
    const { fleet, error } = await this.#readFleet();
    const now = Date.now();
    this.#shown.begin();
    const status = this.#time.turn(() => group.inspect({ values: false, members: false }));
    const { name, closed } = status;
    const show = (text: string): string => this.#shown.of(text);
    const rowOf = await this.#time.step(() => rowMaker(fleet, now, show));
    const before = new Map(this.#last?.members.map((row) => [row.id, row]));
    const rows = await this.#time.each(group.members(), (member) => {
      const problems = member.health();
      const row = rowOf(member, member.inspect(), problems);
      return steadyRow(before.get(row.id), row);
    });
    this.#last = {
      at: now,
      group: { name, closed },
      ok: rows.every(servesReads),
      ...(error === undefined ? {} : { fleetError: error }),
      instances: columnsOf(fleet, now),
      members: LEVELS.flatMap((level) => rows.filter((row) => row.level === level)),
    };
    return this.#last;
  }

  /** As JSON, for operators. Never rejects. */
  async text(): Promise<string> {
    const overview = await this.now();
    const rows = await this.rowTexts(overview, overview.members);
    return `${this.headText(overview)},"members":[${rows.join()}]}`;
  }

  /** All of an overview but its rows, as JSON for operators, without the last brace. */
  headText(overview: Overview): string {
    const known = this.#heads.get(overview);
    if (known !== undefined) return known;
    const { members, ...others } = overview;
    const text = this.#time.turn(() => shownJson(others, this.#redact, namesOf({ members })).slice(0, -1));
    this.#heads.set(overview, text);
    return text;
  }

  /** Rows of an overview as JSON for operators, each made once. */
  rowTexts(overview: Overview, rows: readonly MemberRow[]): Promise<readonly string[]> {
    const names = namesOf(overview);
    const shown = { has: (text: string): boolean => names.has(text) || this.#shown.has(text) };
    return this.#time.each(rows, (row) => {
      const text = this.#texts.get(row) ?? shownJson(row, this.#redact, shown);
      this.#texts.set(row, text);
      return text;
    });
  }

  /** The reports of all instances; `undefined`: not known. Never rejects. */
  async fleet(): Promise<Fleet | undefined> {
    return (await this.#readFleet()).fleet;
  }

  /** Several callers share a read, and a slow store is not asked all the time. */
  async #readFleet(): Promise<{ readonly fleet?: Fleet; readonly error?: string }> {
    if (performance.now() >= this.#fleet.nextAt) this.#reading ??= this.#ask();
    await this.#reading;
    return this.#fleet;
  }

  async #ask(): Promise<void> {
    const begun = performance.now();
    let found: { readonly fleet?: Fleet; readonly error?: string };
    try {
      const fleet = await this.#group.fleet();
      const [first] = fleet.unanswered ?? [];
      found = { fleet, ...(first && { error: failureText(first.error) }) };
    } catch (error) {
      found = { error: error instanceof Error ? failureText(error) : String(error) }; // any member has asked
    }
    const ended = performance.now();
    this.#fleet = { ...found, nextAt: ended + (ended - begun) / FLEET_SHARE };
    this.#reading = undefined;
  }
}
