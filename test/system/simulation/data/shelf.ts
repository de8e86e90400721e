import type { Effect } from '../../../support/record-effects.ts';
import type { Message } from '../message.ts';
import { type Mark, markIn, serialIn } from './edition.ts';
import type { DataInstance } from './instance.ts';
import { orderIn } from './persons.ts';
import type { DataRun, DataWatch } from './watch.ts';
import type { DataWorld } from './world.ts';

/** A version in the store. */
export interface Written {
  readonly version: number;
  /** `NaN`: it is a mark. */
  readonly serial: number;
  readonly mark: Mark | undefined;
  /** The rollback that published it, if one did. */
  readonly order: number | undefined;
  /** The load that it is the result of; `undefined`: a person has published it. */
  readonly run: DataRun | undefined;
  readonly at: number;
}

/** A model of the versions in the store, kept beside it and without its code. */
export class Shelf implements DataWatch {
  readonly #world: DataWorld;
  /** `undefined`: there is none, or its data were lost or damaged since. */
  present: Written | undefined;
  /** The present one and those before it. */
  readonly #all: Map<number, Written> = new Map();
  readonly #ofOrders: Map<number, Written> = new Map();
  /** The values that were published at any time. */
  readonly published: Set<number> = new Set();
  /** When its data were last lost, damaged or written for the first time. */
  uncertainAt: number = 0;
  #highest = 0;

  constructor(world: DataWorld) {
    this.#world = world;
  }

  of(version: number): Written | undefined {
    return this.#all.get(version);
  }

  /** The version that a rollback has published. */
  ofOrder(id: number): Written | undefined {
    return this.#ofOrders.get(id);
  }

  arrived(_instance: DataInstance, { payload = '', token }: Message, { step, after }: Effect): void {
    if (step !== 'write') return;
    const { token: version } = after;
    const isKnown = version <= this.#highest && this.present !== undefined; // an empty store takes any
    if (isKnown) return; // written anew, where it was damaged
    const { loadsUnder, timeline } = this.#world;
    const mark = markIn(payload);
    const serial = mark === undefined ? serialIn(payload) : Number.NaN;
    const run = token === undefined ? undefined : loadsUnder.get(token);
    if (this.present === undefined) this.uncertainAt = timeline.now;
    this.present = { version, serial, mark, order: orderIn(payload), run, at: timeline.now };
    this.#highest = version;
    this.#all.set(version, this.present);
    if (this.present.order !== undefined) this.#ofOrders.set(this.present.order, this.present);
    if (mark === undefined) this.published.add(serial);
    else this.uncertainAt = timeline.now; // it takes the place of a value
    for (const watch of this.#world.watches) watch.written?.(this.present);
  }

  spoiled(): void {
    this.present = undefined;
    this.uncertainAt = this.#world.timeline.now;
  }
}
