import type { Fleet, RefreshGroup } from '../index.ts';
import { columnsOf, type InstanceColumn, LEVELS, type MemberRow, rowsOf } from './rows.ts';

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

/** The state of a group and its fleet. Starts no load. */
export class Overviews {
  readonly #group: RefreshGroup;
  #fleet: { readonly fleet?: Fleet; readonly error?: string; readonly nextAt: number } = { nextAt: 0 };
  #reading: Promise<void> | undefined;

  constructor(group: RefreshGroup) {
    this.#group = group;
  }

  /** Never rejects. */
  async now(): Promise<Overview> {
    const group = this.#group;
    const { fleet, error } = await this.#readFleet();
    const now = Date.now();
    const { name, paused, closed, members: statuses } = group.inspect({ values: false });
    const { ok, problems } = group.health({ start: false });
    const rows = rowsOf(group.members(), statuses, problems, fleet, now);
    const members = LEVELS.flatMap((level) => rows.filter((row) => row.level === level));
    return {
      at: now,
      group: { name, paused, closed },
      ok,
      ...(error === undefined ? {} : { fleetError: error }),
      instances: columnsOf(fleet, now),
      members,
    };
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
