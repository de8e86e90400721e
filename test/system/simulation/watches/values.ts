import type { TicklessEvent } from '../../../../src/index.ts';
import { KEYS } from '../instance.ts';
import type { Loaded, LoadRun, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** The error of fast or slow clocks, and of rounded instants. */
const ROUNDING_MS = 3;

/**
 * The served values. Rule 1: not of an aborted load. Rule 7: not of a load that began before the last
 * change. Rule 13: nothing older than before. Rule 17: it is as old as it says.
 */
export class Values implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  #serial: number | undefined;
  #version = 0;
  /** The state of the source in the newest value that had a version. */
  #revision = 0;

  /** How often the backend had come back empty when the value changed last, and when that with the version did. */
  #lossesAtChange = 0;
  #losses = 0;
  /** The key was evicted or dropped since. */
  #isForgotten = false;
  /** It was evicted, and is there until its round is over. */
  #isLeaving = false;
  #drops = 0;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  stepped(): void {
    const value = this.#look();
    if (value === undefined) return;
    this.#isNotOlder(value);
    this.#isAsOldAsItSays(value);
  }

  emitted({ type }: TicklessEvent): void {
    if (type === 'evicted') this.#isForgotten = this.#isLeaving = true;
    if (type !== 'changed') return;
    this.#isLeaving = false;
    this.#lossesAtChange = this.#world.backend.losses;
  }

  unseen(): void {
    this.#look();
  }

  /** The held value, which is visible without an inspection. */
  #look(): Loaded | undefined {
    const value = this.#subject.peek();
    if (value === undefined) {
      if (this.#subject.mark?.kind === 'drop') this.#serial = undefined;
      // Evicted by other keys: its state is unknown.
      if (this.#mayBePushedOut && this.#subject.status === undefined)
        this.#subject.mark = this.#subject.replaced = undefined;
    } else if (value.serial !== this.#serial) {
      this.#changed(value);
      this.#serial = value.serial;
    }
    return value;
  }

  get #mayBePushedOut(): boolean {
    return this.#subject.id.includes('[') && this.#world.scenario.maxKeys < KEYS.length;
  }

  #changed(value: Loaded): void {
    const { id, mark, replaced, options } = this.#subject;
    const { referee, freshness } = this.#world;
    const run = freshness.get(value.serial)?.by; // the load that returned it, or last confirmed it
    if (run === undefined) {
      const isSet = mark?.value?.serial === value.serial;
      referee.holds(7, isSet, () => `${id}: serves a value that was set by hand elsewhere, or before`);
      return;
    }
    if (run.subject === this.#subject) {
      const isBefore = replaced !== undefined && run.serial < replaced.order;
      const isReplaced = isBefore && !this.#world.mayLookYounger(this.#subject, run, replaced.at);
      referee.holds(7, !isReplaced, () => {
        return `${id}: load ${run.serial} began before ${replaced?.kind} of ${replaced?.order}, and is served`;
      });
      referee.holds(1, !run.wasStopped || run.isBatched, () => {
        return `${id}: load ${run.serial} was aborted, and is served`;
      });
      referee.holds(7, run.brought !== 'absent' && run.brought !== 'error', () => {
        return `${id}: load ${run.serial} returned no value`;
      });
      return;
    }
    this.#isRightlyAdopted(run);
    const isSame = run.subject.options.lockName === options.lockName && options.hasStore;
    referee.holds(13, isSame, () => `${id}: serves load ${run.serial}, which is of ${run.subject.id}`);
  }

  /** After a change a snapshot of another instance is adopted only if its load ended after the change, or during it. */
  #isRightlyAdopted(run: LoadRun): void {
    const { id, mark, wasAwaited, wasRunning } = this.#subject;
    const { referee, leases } = this.#world;
    // A call for many keys has the token of one key only.
    if (mark === undefined || run.endedAt === undefined || run.isBatched) return;
    if (mark.kind === 'invalidate' && (wasAwaited || wasRunning)) return;
    // The source may have said the same again elsewhere, without a lease: the version tells in which round it was published.
    const token = run.token ?? this.#subject.status?.lock?.version;
    const lease = token === undefined ? undefined : leases.of(run.subject.options.lockName ?? '', token);
    const { backend, timeline } = this.#world;
    const leaseEndedAt = timeline.now - backend.now + (lease?.endedAt ?? 0);
    const endedAt = mark.kind === 'set' ? run.endedAt : Math.max(run.endedAt, leaseEndedAt);
    // Its age does not include the time until it arrived in the store.
    const slack =
      ROUNDING_MS + this.#world.slowestWrite(this.#subject.options.lockName ?? '') + backend.steppedMs;
    referee.holds(7, endedAt >= mark.at - slack, () => {
      return `${id}: load ${run.serial} ended before ${mark.kind} of ${mark.order}, and is adopted`;
    });
  }

  #isNotOlder({ revision }: Loaded): void {
    const { id, drops } = this.#subject;
    const version = this.#subject.status?.lock?.version;
    if (version === undefined) return;
    const { losses } = this.#world.backend;
    if (id.includes('[') && drops.length > this.#drops) this.#isForgotten = true;
    this.#drops = drops.length;
    // A late write may land in an empty store, and nothing here remembers a newer one.
    const hasForgotten = this.#isForgotten && !this.#isLeaving;
    if (hasForgotten && losses > this.#losses) this.#version = this.#revision = 0;
    if (version !== this.#version) this.#losses = this.#lossesAtChange;
    if (!this.#isLeaving) this.#isForgotten = false;
    this.#world.referee.holds(13, version >= this.#version, () => {
      return `${id}: version ${version} after version ${this.#version}`;
    });
    this.#version = version;
    if (revision < 0 || !this.#subject.options.hasLock) return; // without a lock there is no fencing
    this.#world.referee.holds(13, revision >= this.#revision, () => {
      return `${id}: version ${version} is of revision ${revision}, after revision ${this.#revision}`;
    });
    this.#revision = revision;
  }

  #isAsOldAsItSays(value: Loaded): void {
    const { id, options } = this.#subject;
    const { referee, timeline, freshness } = this.#world;
    const age = this.#subject.status?.age;
    const known = freshness.get(value.serial);
    if (age === undefined || known === undefined) return;
    const { now } = timeline;
    const slack = ROUNDING_MS + (now - known.firstAt) * 4e-4;
    // For a snapshot of another instance the time until it arrived in the store is unknown.
    const isOwn = options.lockName === undefined;
    const late = this.#world.slowestWrite(options.lockName ?? '') + this.#world.backend.steppedMs;
    const least = now - known.lastAt - (isOwn ? 0 : late);
    referee.holds(17, age >= least - slack, () => {
      return `${id}: load ${value.serial} is said to be ${age.toFixed(1)} ms old, and is ${least.toFixed(1)}`;
    });
    const most = now - known.firstAt + (isOwn ? 0 : this.#world.mostClockError);
    referee.holds(17, age <= most + slack, () => {
      return `${id}: load ${value.serial} is said to be ${age.toFixed(1)} ms old, and is ${most.toFixed(1)}`;
    });
  }
}
