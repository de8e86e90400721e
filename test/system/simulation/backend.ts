import type { Fleet } from '../../../src/index.ts';
import type { Cells, Change, Seen, Swap } from '../../../src/records/cells/cells.ts';
import { KnownClock } from '../../../src/records/cells/known-clock.ts';
import { SwappedRecords } from '../../../src/records/cells/swapped-records.ts';
import { DAMAGED, damagedText } from '../../support/cell-layout.ts';
import { storeOn } from '../../support/parts.ts';
import type { Effect } from '../../support/record-effects.ts';
import { effectsOf } from '../../support/record-effects.ts';
import type { LockRow } from '../../support/records-of-steps.ts';
import type { Decision, LeaseBook } from './lease-book.ts';
import type { Machine } from './machine.ts';
import { isWrite, type Message, type StepAnswer } from './message.ts';
import type { VersionBook } from './version-book.ts';

/** A text by name, with long ones beside it. */
interface Cell {
  readonly text: string;
  readonly main: string | undefined;
  readonly longs: ReadonlyMap<string, string>;
  /** By the clock of the backend. */
  readonly keptUntil: number;
}

/** A message that has brought changes, and who has sent it. */
export interface Sender {
  readonly decision: Decision;
  /** The step that a swap was for. */
  askedFor(effect: Effect): Message | undefined;
  /** A swap of it has done that. */
  did(message: Message, effect: Effect): void;
}

/** The backend that all instances share: cells. Each method is one atomic step. */
export class Backend implements Cells {
  isUp: boolean = true;
  /** How often its data were lost or damaged. */
  spoiled: number = 0;
  /** How often it came back empty. */
  losses = 0;
  /** How often its clock was set, or its data were lost: what instances know of it is worth nothing until they are told. */
  breaks = 0;
  /** By how much its clock was set in all, in milliseconds. */
  steppedMs = 0;
  readonly machine: Machine;
  readonly #leases: LeaseBook;
  readonly #versions: VersionBook;
  readonly #cells: Map<string, Cell> = new Map();

  constructor(machine: Machine, leases: LeaseBook, versions: VersionBook) {
    this.machine = machine;
    this.#leases = leases;
    this.#versions = versions;
  }

  /** Its clock, in epoch milliseconds. */
  get now(): number {
    return this.machine.exactNow();
  }

  /** @param sender @default none: the simulation itself looks */
  async swap(changes: readonly Change[], sender?: Sender): ReturnType<Cells['swap']> {
    return { now: this.machine.now(), answers: changes.map((change) => this.#seen(change, sender)) };
  }

  async long(name: string, ids: readonly string[]): ReturnType<Cells['long']> {
    return ids.map((id) => this.#at(name)?.longs.get(id));
  }

  async list(prefix: string): ReturnType<Cells['list']> {
    const names = [...this.#cells.keys()].filter((name) => name.startsWith(prefix));
    const texts = names.flatMap((name) => {
      const text = this.#at(name)?.text;
      return text === undefined ? [] : [[name, text] as const];
    });
    return { now: this.machine.now(), texts };
  }

  /** The reports of instances that it has. */
  async fleet(): Promise<Fleet> {
    const clock = new KnownClock(() => this.machine.monotonic(), true);
    const kind = { longestName: undefined, options: [], clock: this.machine };
    return storeOn(new SwappedRecords(this, Infinity, clock), {}, kind).fleet();
  }

  /** A step of an instance has its answer. */
  answered(message: Message, answer: StepAnswer, asked: Decision): void {
    const { step } = message;
    if (step === 'acquire') this.#leases.acquireAnswered(message, answer as LockRow, asked, this.now);
    if (typeof answer === 'boolean') this.#leases.leaseAnswered(message, answer, asked, this.now);
    if (step === 'write' && asked.width < Infinity)
      this.#versions.answered(message, (answer as { readonly kind: 'written' | 'refused' }).kind);
  }

  /** Damages all snapshots. */
  damageAll(): void {
    this.spoiled += 1;
    for (const [name, cell] of this.#cells) {
      const longs = new Map([...cell.longs.keys()].map((id) => [id, DAMAGED]));
      this.#cells.set(name, { ...cell, text: damagedText(name, cell.text), longs });
    }
  }

  /** Loses all its data, as after a restart. */
  loseAll(): void {
    this.spoiled += 1;
    this.losses += 1;
    this.breaks += 1;
    this.#cells.clear();
    this.#leases.forgotten(this.now);
    this.#versions.forgotten();
  }

  /** Sets its clock, forward or back. */
  stepClock(ms: number): void {
    this.breaks += 1;
    this.steppedMs += Math.abs(ms);
    this.machine.stepWall(ms);
    this.#leases.clockSet(this.now, ms);
  }

  #at(name: string): Cell | undefined {
    const cell = this.#cells.get(name);
    return cell !== undefined && cell.keptUntil > this.now ? cell : undefined;
  }

  #seen({ name, swap, isWhole, known }: Change, sender: Sender | undefined): Seen {
    const cell = this.#at(name);
    if (swap !== undefined && cell?.text === swap.before) {
      const replaced = this.#replace(name, cell, swap);
      if (sender !== undefined) this.#judge(name, cell, replaced, sender);
      return { isDone: true };
    }
    const main = isWhole && cell?.main !== known ? cell?.longs.get(cell.main ?? '') : undefined;
    return { isDone: cell !== undefined && cell.text === swap?.after, text: cell?.text, main };
  }

  #replace(
    name: string,
    before: Cell | undefined,
    { after, main, adds, drops, keepForMs }: Swap,
  ): Cell | undefined {
    if (after === undefined) {
      this.#cells.delete(name);
      return undefined;
    }
    const longs = new Map([...(before?.longs ?? [])].filter(([id]) => !drops.includes(id)));
    if (adds !== undefined) longs.set(adds.id, adds.text);
    const cell = { text: after, main, longs, keptUntil: this.now + keepForMs };
    this.#cells.set(name, cell);
    return cell;
  }

  #judge(name: string, before: Cell | undefined, after: Cell | undefined, sender: Sender): void {
    const longText = (id: string): string | undefined => after?.longs.get(id);
    for (const effect of effectsOf(name, before?.text, after?.text, longText)) {
      const message = sender.askedFor(effect);
      if (message === undefined) continue;
      this.#note(effect, message, sender.decision);
      sender.did(message, effect);
    }
  }

  #note({ step, after }: Effect, message: Message, decision: Decision): void {
    const { now } = this;
    switch (step) {
      case 'acquire':
        this.#leases.acquired(message, { ...after, isSeized: after.phase === 'seized' }, decision, now);
        return;
      case 'extend':
        this.#leases.extended(message, after, decision, now);
        return;
      case 'release':
        this.#leases.released(message, after, decision, now);
        return;
      case 'impose':
        this.#leases.imposed(message, after, decision, now);
        return;
      default:
        if (isWrite(message.step) && step === 'write') this.#versions.written(message, after.token);
    }
  }
}
