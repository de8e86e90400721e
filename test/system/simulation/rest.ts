import { CALENDAR_MS, type Instance } from './instance.ts';
import type { Message } from './message.ts';
import { MOODS } from './source.ts';
import type { Call } from './subject.ts';
import type { World } from './world.ts';

/** All waits have ended after that: leases, deadlines, cool-downs, time-outs of clients. */
const LONGEST_MS = 60_000;

/** How long every subject is read after a step of the wall clock: a little more than a minute. */
const WALL_MS = 72_000;

/**
 * Rule 8: idle means idle, at any time. After all faults are repaired, the world comes to rest. Rule 4: nothing runs
 * for
 * ever. Rules 13 and 15: the instances converge to the same value, whichever instances were lost.
 */
export class Rest {
  readonly #world: World;
  /** The instances that have requested a lease. */
  readonly #requests: Map<string, Instance> = new Map();

  constructor(world: World) {
    this.#world = world;
  }

  sent(instance: Instance, { requestId }: Message): void {
    if (requestId !== undefined) this.#requests.set(requestId, instance);
  }

  /** An idle instance has no timers. */
  stepped(instance: Instance): void {
    const { machine, name, closing } = instance;
    if (machine.timersAhead === 0 || !machine.isAwake || closing === 'closing') return;
    this.#isFree(instance);
    this.#world.referee.holds(8, this.#isBusy(instance), () => {
      return `${name}: ${machine.timersAhead} timers run, and nothing goes on`;
    });
  }

  /** Unless a caller waits, the process may end at any time. */
  #isFree({ machine, subjects, name }: Instance): void {
    if (!machine.isHeld) return;
    const isAwaited = [...subjects.values()].some(({ waiting }) => waiting.size > 0);
    this.#world.referee.holds(8, isAwaited, () => `${name}: a timer keeps it alive, and no caller waits`);
  }

  async come(): Promise<void> {
    const world = this.#world;
    const { timeline, referee } = world;
    world.misfortunes.end();
    world.actions.end();
    world.source.mood = MOODS.calm;
    world.mend();
    const mendedAt = timeline.now;
    for (const instance of world.instances) instance.resume();
    await this.#readsFor(mendedAt + LONGEST_MS / 1.5, 2000);
    const isOn = (): boolean => referee.violation === undefined;
    if (isOn()) await this.#isWell();
    if (isOn()) await this.#agrees();
    if (isOn()) await this.#followsTheWall();
    if (isOn()) await this.#isStill();
    if (isOn()) await this.#closes();
  }

  /** Every instance reads every subject, now and then. */
  async #readsFor(until: number, everyMs: number): Promise<void> {
    const { timeline, actions, instances } = this.#world;
    const again = (): void => {
      if (timeline.now >= until) return;
      for (const instance of instances) actions.readAll(instance);
      timeline.plan(everyMs, again);
    };
    timeline.plan(0, again); // in a step of its own, with all its consequences
    timeline.plan(until - timeline.now, () => {});
    await this.#world.until(() => timeline.now >= until);
  }

  /** Every subject is loaded. One that has become due since it was read last is read again. */
  async #isWell(): Promise<void> {
    const before = this.#unwell();
    if (before.size > 0) await this.#readsFor(this.#world.timeline.now + 4000, 2000);
    for (const [id, how] of this.#unwell()) {
      this.#world.referee.holds(
        'rest',
        !before.has(id),
        () => `${id}: well after all was mended it is ${how}`,
      );
    }
  }

  /** Subjects that are not loaded, or are due after a failure. */
  #unwell(): Map<string, string> {
    const unwell = new Map<string, string>();
    // An instance that reads more rarely finds no snapshot that is young enough, or the lock held elsewhere.
    const { maxStaleness, whenTooStale, hasLock, hasStore } = this.#world.scenario;
    // Without a store a round serves the one that has won it; where all read at the same moments, one may lose each race.
    const mayFail = (maxStaleness < Infinity && whenTooStale === 'throw') || (hasLock && !hasStore);
    for (const instance of this.#world.open) {
      for (const { id, options, peek, inspect } of instance.subjects.values()) {
        // A task that is always done elsewhere keeps its last failure.
        if (id.endsWith('nightly') || id.includes('[')) continue;
        // An instance that loses each race has never run the task.
        const isDone = (options.hasLock && !options.holdsValue) || inspect()?.lastEndedAt !== undefined;
        const isLoaded = options.holdsValue ? peek() !== undefined : isDone;
        const { isDue = true, lastError } = (options.holdsValue && inspect()) || {};
        if (isLoaded && (lastError === undefined || !isDue || mayFail)) continue;
        unwell.set(id, `${isLoaded ? 'loaded' : 'empty'}: ${lastError?.message}`);
      }
    }
    return unwell;
  }

  /** A value that is loaded now has reached every instance two periods later. */
  async #agrees(): Promise<void> {
    const { scenario, timeline, referee } = this.#world;
    const [first, ...others] = this.#world.open;
    if (first === undefined || !scenario.hasStore) return;
    timeline.plan(0, () => this.#world.actions.refresh(first));
    const settledAt = timeline.now + 2000;
    await this.#readsFor(settledAt, 250);
    const version = first.rates.inspect().lock?.version;
    referee.holds('rest', version !== undefined, () => `${first.name}: what it has loaded is not published`);
    if (version === undefined) return;
    await this.#readsFor(settledAt + 3 * scenario.period + 2000, 250);
    for (const { name, rates } of others) {
      const { lock, age = 0 } = rates.inspect();
      const theirs = lock?.version ?? 0;
      // Of those that read at the same moments one may always find the lock held, and what was loaded then too old.
      const isServed = age <= scenario.maxStaleness;
      referee.holds(13, theirs >= version || !isServed, () => {
        return `${name}: version ${theirs}, two periods after version ${version} was published`;
      });
    }
  }

  /**
   * Rule 9: after a step of the wall clock a calendar schedule follows it within a minute of reads, without inspection. An
   * instant that the load itself has returned is turned into a duration when it ends, by the wall clock of then, and follows no
   * step.
   */
  async #followsTheWall(): Promise<void> {
    const world = this.#world;
    const { open } = world;
    const order = world.next();
    // A load that is running ends by the new clock, which is as good as a load that begins after the step.
    const underWay = new Set(open.flatMap((instance) => [...instance.subject('calendar').running]));
    for (const instance of open) {
      instance.stepWall(CALENDAR_MS * 3);
      instance.unseenUntil = Infinity;
    }
    await this.#readsFor(world.timeline.now + WALL_MS, WALL_MS / 6 - 1);
    const runs = [...world.runs.values()].filter((run) => run.serial > order || underWay.has(run));
    for (const instance of open) {
      const calendar = instance.subject('calendar');
      const isInLine = calendar.inspect()?.running === true; // for a place of its group
      const isLoaded =
        isInLine ||
        runs.some(({ subject }) => subject === calendar) ||
        world.said.has(calendar.peek()?.serial ?? 0);
      world.referee.holds(
        9,
        isLoaded,
        () => `${calendar.id}: a minute after a step of the clock it is not loaded`,
      );
      instance.unseenUntil = 0;
    }
  }

  /** Without reads nothing happens. */
  async #isStill(): Promise<void> {
    const { timeline, referee, instances } = this.#world;
    const since = timeline.now;
    await this.#world.until(() => timeline.now > since + LONGEST_MS);
    for (const { subjects, machine } of this.#world.closed) {
      if (machine.hasCrashed) continue;
      for (const { id, waiting } of subjects.values()) this.#isAnswered(id, waiting);
    }
    for (const { machine, subjects, name, closing } of instances) {
      if (closing === 'closing') continue;
      referee.holds(8, machine.timersAhead === 0, () => `${name}: a timer runs without reads`);
      for (const { id, waiting, inspect, running } of subjects.values()) {
        this.#isAnswered(id, waiting);
        referee.holds(4, inspect()?.running !== true, () => `${id}: it is said to be running, and is not`);
        for (const { serial, signal, isBatched } of running) {
          const isStopped = signal.aborted || isBatched;
          referee.holds(1, isStopped, () => `${id}: load ${serial} runs for ever, and was not aborted`);
        }
      }
    }
  }

  #isAnswered(id: string, [call]: Iterable<Call>): void {
    this.#world.referee.holds(4, call === undefined, () => {
      return `${id}: ${call?.what} of ${call?.order} is never answered`;
    });
  }

  async #closes(): Promise<void> {
    const { timeline, referee, instances } = this.#world;
    const since = timeline.now;
    timeline.plan(0, () => {
      for (const instance of instances) {
        if (instance.closing === 'no') void instance.close(1000);
      }
    }); // in a step of its own, with all its consequences
    timeline.plan(LONGEST_MS, () => {});
    await this.#world.until(() => timeline.now >= since + LONGEST_MS);
    for (const { closing, name, machine } of instances) {
      referee.holds('rest', closing === 'closed', () => `${name}: it never closes`);
      referee.holds(8, machine.timersAhead === 0, () => `${name}: a timer runs after close()`);
    }
  }

  /** Work is under way that may need a timer. */
  #isBusy(instance: Instance): boolean {
    const { link, subjects } = instance;
    if (link.isAwaited) return true;
    for (const { running, waiting, status } of subjects.values()) {
      if (running.size > 0 || waiting.size > 0 || status?.running === true) return true;
    }
    const { now } = this.#world.backend;
    // The release of a lease is tried again while the lease lasts.
    for (const { requestId } of this.#world.leases.open(now)) {
      if (this.#requests.get(requestId) === instance) return true;
    }
    return false;
  }
}
