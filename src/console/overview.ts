import type { Fleet, RefreshGroup } from '../index.ts';
import { shownJson } from './redact.ts';
import { columnsOf, type InstanceColumn, LEVELS, type MemberRow, rowMaker } from './rows.ts';

/** All members on all instances. */
export interface Overview {
  /** Epoch milliseconds by the clock of this instance: ages count from here. */
  readonly at: number;
  readonly group: { readonly name: string; readonly paused: boolean; readonly closed: boolean };
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

/** Rows and their texts are made for this long in one turn of the event loop, in milliseconds. */
const SLICE_MS = 10;

/** An overview that took longer than this is shared by the requests of a while: {@link SHARE} of the time is spent on it. */
const SHORT_MS = 50;
const SHARE = 0.1;

/** Names of members are shown as they are: an operator has to tell them apart. */
export function namesOf({
  members,
}: {
  readonly members: readonly { readonly name: string }[];
}): ReadonlySet<string> {
  return new Set(members.map(({ name }) => name));
}

/** The state of a group and its fleet. Starts no load. */
export class Overviews {
  readonly #group: RefreshGroup;
  #fleet: { readonly fleet?: Fleet; readonly error?: string; readonly nextAt: number } = { nextAt: 0 };
  #reading: Promise<void> | undefined;
  #making: Promise<Overview> | undefined;
  /** The last one, where it took long. */
  #made: { readonly overview: Overview; readonly took: number; readonly until: number } | undefined;
  readonly #texts: WeakMap<Overview, Promise<string>> = new WeakMap();

  constructor(group: RefreshGroup) {
    this.#group = group;
  }

  /** Callers at the same time share one. Never rejects. */
  now(): Promise<Overview> {
    if (this.#made !== undefined && performance.now() < this.#made.until)
      return Promise.resolve(this.#made.overview);
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<Overview> {
    const group = this.#group;
    const { fleet, error } = await this.#readFleet();
    const begun = performance.now();
    const now = Date.now();
    const { name, paused, closed, members: statuses } = group.inspect({ values: false });
    const { ok, problems } = group.health({ start: false });
    const rowOf = rowMaker(problems, fleet, now);
    const all = group.members().slice(0, statuses.length).entries();
    const rows = await inSlices(all, ([at, member]) => rowOf(member, statuses[at] as object));
    const members = LEVELS.flatMap((level) => rows.filter((row) => row.level === level));
    const overview = {
      at: now,
      group: { name, paused, closed },
      ok,
      ...(error === undefined ? {} : { fleetError: error }),
      instances: columnsOf(fleet, now),
      members,
    };
    this.#share(overview, performance.now() - begun);
    return overview;
  }

  /** Of one that took long. */
  #share(overview: Overview, took: number): void {
    this.#made = took > SHORT_MS ? { overview, took, until: performance.now() + took / SHARE } : undefined;
  }

  /** As JSON, for operators. Never rejects. */
  async text(): Promise<string> {
    const overview = await this.now();
    const known = this.#texts.get(overview);
    if (known !== undefined) return known;
    const text = this.#textOf(overview);
    this.#texts.set(overview, text);
    return text;
  }

  async #textOf(overview: Overview): Promise<string> {
    const begun = performance.now();
    const { members, ...others } = overview;
    const names = namesOf(overview);
    const rows = await inSlices(members, (row) => shownJson(row, names));
    const made = this.#made?.overview === overview ? this.#made.took : 0;
    this.#share(overview, made + performance.now() - begun);
    return `${shownJson(others, names).slice(0, -1)},"members":[${rows.join()}]}`;
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
      found = { fleet: await this.#group.fleet() };
    } catch (error) {
      found = { error: error instanceof Error ? error.message : String(error) };
    }
    const ended = performance.now();
    this.#fleet = { ...found, nextAt: ended + (ended - begun) / FLEET_SHARE };
    this.#reading = undefined;
  }
}

/** Lets others have their turn meanwhile. */
async function inSlices<From, To>(all: Iterable<From>, make: (one: From) => To): Promise<To[]> {
  const made: To[] = [];
  let begun = performance.now();
  for (const one of all) {
    if (performance.now() - begun > SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      begun = performance.now();
    }
    made.push(make(one));
  }
  return made;
}
