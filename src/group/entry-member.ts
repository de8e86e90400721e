import type { Difference } from '../data/difference.ts';
import type { GroupSlot, Refreshable, StartOfOne } from '../due/refreshable.ts';
import { isTooStale, startableFrom } from '../engine/decide.ts';
import { waitersOf } from '../engine/entry.ts';
import type { EntryOwner } from '../engine/entry-owner.ts';
import type { SingleMember } from '../options/group-handle.ts';
import { versionsOf } from '../value/shared-change.ts';
import {
  backendHealth,
  backupHealth,
  backupsOf,
  entryHealth,
  hangingHealth,
  runStateHealth,
} from './health.ts';
import { causesFirst, type HealthProblem, Member } from './member.ts';

/** A value or an executor as a member of a group. */
export class EntryMember<T> extends Member implements Refreshable, EntryOwner<T> {
  readonly #member: SingleMember<T>;
  readonly #slot: GroupSlot;
  /** Tells the queue that the load which it started has ended. */
  #ended: (() => void) | undefined;
  /** When the pass began in which the queue started it last. */
  #pass: number = -Infinity;

  /** @param join makes its slot. */
  constructor(member: SingleMember<T>, join: (member: EntryMember<T>) => GroupSlot) {
    super(member, member.isRequired);
    this.#member = member;
    this.#slot = join(this);
    this.#plan();
  }

  override async compare(before: number, after: number): Promise<Difference> {
    const { engine, entry } = this.#member;
    return versionsOf(engine, entry).compare(before, after);
  }

  changed(): void {
    this.#plan();
    if (this.#member.entry.flight === undefined) this.#end();
  }

  stateChanged(): void {
    if (this.#member.engine.runState === 'closed') this.#slot.leave();
    else this.#plan();
  }

  startNext(start: StartOfOne): boolean {
    const { entry, engine } = this.#member;
    this.#end(); // if its load is just settling
    this.#pass = this.#slot.afterPass();
    const isStarted = engine.startAhead(entry, start.until);
    if (isStarted) this.#ended = start.ended;
    this.#plan();
    return isStarted;
  }

  keepAlive(): void {
    const { entry } = this.#member;
    if (entry.flight !== undefined) void waitersOf(entry).end();
  }

  rescan(): void {}

  compareClocks(): void {
    const { entry, engine, options } = this.#member;
    engine.compareClocks(entry, options.clock.monotonic());
  }

  health(): HealthProblem[] {
    const { entry, engine, options, isRequired } = this.#member;
    const now = options.clock.monotonic();
    engine.compareClocks(entry, now);
    const { runState } = engine;
    const { kind, name, whenFailing } = options;
    const { isRefusing } = engine.reporter;
    const rules = { kind, name, isRequired, isRefusing, runState, whenFailing };
    return causesFirst(backendHealth(engine.coordinator?.problems(), name), [
      ...runStateHealth(runState, name),
      ...entryHealth(entry, rules, now),
      ...backupHealth(backupsOf(entry), name),
      ...hangingHealth(engine.options),
    ]);
  }

  firstLoads(signal: AbortSignal): (() => Promise<void>)[] {
    const { entry, engine, options } = this.#member;
    const firstLoad = async (): Promise<void> => {
      const now = options.clock.monotonic();
      engine.compareClocks(entry, now);
      if (entry.isLoaded && !entry.isInitial) return;
      // With an initial value that may be served it is ready, and the load runs behind.
      const isServed = entry.isLoaded && !isTooStale(entry, now);
      await engine.requestStart(entry, !isServed, undefined, signal);
    };
    return [firstLoad];
  }

  #end(): void {
    const ended = this.#ended;
    this.#ended = undefined;
    ended?.();
  }

  #plan(): void {
    const { entry, engine } = this.#member;
    const from = startableFrom(entry);
    this.#slot.plan(engine.runState === 'open' ? Math.max(from, this.#pass) : Infinity);
  }
}
