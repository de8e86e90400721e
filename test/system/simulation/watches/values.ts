import { KEYS } from '../instance.ts';
import type { Loaded, LoadRun, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** Clocks that run too fast or too slow, and instants that are rounded. */
const ROUNDING_MS = 3;

/**
 * What is served. Rule 1: nothing of a load that was told to stop. Rule 7: nothing of a load that began before the last
 * change. Rule 13: nothing older than before. Rule 17: it is as old as it says.
 */
export class Values implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  #serial: number | undefined;
  #version = 0;
  /** The state of the source in the newest value that had a version. */
  #revision = 0;

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

  unseen(): void {
    this.#look();
  }

  /** What is held. That can be seen without a look at the status. */
  #look(): Loaded | undefined {
    const value = this.#subject.peek();
    if (value === undefined) {
      if (this.#subject.mark?.kind === 'drop') this.#serial = undefined;
      // Pushed out by other keys, where there is no room for all: nothing is known of it any more.
      if (this.#mayBePushedOut && this.#subject.status === undefined) this.#subject.mark = undefined;
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
    const { id, mark, options } = this.#subject;
    const { referee, freshness } = this.#world;
    const run = freshness.get(value.serial)?.by; // who brought it, or said last that it is unchanged
    if (run === undefined) {
      const isSet = mark?.value?.serial === value.serial;
      referee.holds(7, isSet, () => `${id}: serves what was set by hand elsewhere, or before`);
      return;
    }
    if (run.subject === this.#subject) {
      const isSuperseded = mark !== undefined && run.serial < mark.order;
      referee.holds(7, !isSuperseded, () => {
        return `${id}: load ${run.serial} began before ${mark?.kind} of ${mark?.order}, and is served`;
      });
      referee.holds(1, !run.wasStopped || run.isBatched, () => {
        return `${id}: load ${run.serial} was told to stop, and is served`;
      });
      referee.holds(7, run.brought === 'value' || run.brought === 'kept', () => {
        return `${id}: load ${run.serial} brought no value`;
      });
      return;
    }
    this.#isRightlyAdopted(run);
    const isSame = run.subject.options.lockName === options.lockName && options.hasStore;
    referee.holds(13, isSame, () => `${id}: serves load ${run.serial}, which is of ${run.subject.id}`);
  }

  /** What others have loaded is taken over after a change only if it was loaded after it, or while it was made. */
  #isRightlyAdopted(run: LoadRun): void {
    const { id, mark } = this.#subject;
    const { referee, leases } = this.#world;
    // A call for many keys knows but the token of one.
    if (mark === undefined || run.endedAt === undefined || run.isBatched) return;
    const lease =
      run.token === undefined ? undefined : leases.of(run.subject.options.lockName ?? '', run.token);
    const endedAt = mark.kind === 'set' ? run.endedAt : Math.max(run.endedAt, lease?.endedAt ?? 0);
    // It is taken for younger than it is by the time that it took to arrive in the store.
    const slack = ROUNDING_MS + this.#world.slowestWrite(this.#subject.options.lockName ?? '');
    referee.holds(7, endedAt >= mark.at - slack, () => {
      return `${id}: load ${run.serial} ended before ${mark.kind} of ${mark.order}, and is taken over`;
    });
  }

  #isNotOlder({ revision }: Loaded): void {
    const { id } = this.#subject;
    const version = this.#subject.status?.lock?.version;
    if (version === undefined) return;
    this.#world.referee.holds(13, version >= this.#version, () => {
      return `${id}: version ${version} after version ${this.#version}`;
    });
    this.#version = version;
    if (revision < 0 || !this.#subject.options.hasLock) return; // without a lock nothing is fenced
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
    // Of what others have loaded nobody knows how long it took to arrive in the store.
    const isOwn = options.lockName === undefined;
    const least = now - known.lastAt - (isOwn ? 0 : this.#world.slowestWrite(options.lockName ?? ''));
    referee.holds(17, age >= least - slack, () => {
      return `${id}: load ${value.serial} is said to be ${age.toFixed(1)} ms old, and is ${least.toFixed(1)}`;
    });
    const most = now - known.firstAt + (isOwn ? 0 : this.#world.slowestWay);
    referee.holds(17, age <= most + slack, () => {
      return `${id}: load ${value.serial} is said to be ${age.toFixed(1)} ms old, and is ${most.toFixed(1)}`;
    });
  }
}
