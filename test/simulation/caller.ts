import type { Instance } from './instance.ts';
import { callers } from './source.ts';
import type { Call, Loaded, Subject } from './subject.ts';
import type { World } from './world.ts';

/** Calls the public surface as users do, and takes down what they were promised. */
export class Caller {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** A call that makes a promise. What the caller drops must not be an unhandled rejection. */
  call(
    subject: Subject,
    what: Call['what'],
    ask: () => Promise<unknown>,
    { mayWait = false, signal }: { mayWait?: boolean; signal?: AbortSignal } = {},
  ): void {
    const world = this.#world;
    const { scenario } = world;
    const wasLoaded = subject.peek() !== undefined;
    const mayBeStale = scenario.maxStaleness < Infinity && scenario.whenTooStale !== 'serve';
    const isTooStale = mayBeStale && (subject.inspect()?.age ?? 0) > scenario.maxStaleness - 1;
    const call: Call = {
      what,
      order: world.next(),
      at: world.timeline.now,
      wasLoaded,
      mayWait: mayWait || isTooStale || what !== 'get',
      signal,
      hasWaited: false,
      outcome: undefined,
    };
    if (what === 'get' && !call.mayWait) world.commands.read(subject);
    world.trace.tell(subject.id, () => `${what} (${call.order})${wasLoaded ? '' : ', of none'}`);
    this.ask(() => subject.called(call, ask()));
  }

  /** As a reader does: with a context of his own. */
  ask(ask: () => unknown): void {
    callers.run('a reader', () => {
      try {
        void ask();
      } catch {
        // `current` throws where there is nothing to be served
      }
    });
  }

  /** Puts a value in by hand. */
  set(subject: Subject, set: (value: Loaded) => void): void {
    const world = this.#world;
    const { now } = world.timeline;
    const value = { serial: world.next(), revision: -1 };
    world.freshness.set(value.serial, { firstAt: now, lastAt: now, by: undefined });
    world.change(subject, 'set', value);
    set(value);
    const isServed = subject.peek()?.serial === value.serial;
    world.referee.holds(
      7,
      isServed || subject.id.includes('['),
      () => `${subject.id}: what was set is not served`,
    );
  }

  /** A caller who waits for a fresh value, and goes away. */
  leave(subject: Subject, get: (signal: AbortSignal) => Promise<unknown>): void {
    const controller = new AbortController();
    const { signal } = controller;
    subject.instance.machine.receive(this.#world.random.between(0, 100), () => {
      const reason = new Error('the caller has left');
      controller.abort(reason);
      for (const run of subject.running) {
        const isHis = run.signal.aborted && run.signal.reason === reason;
        this.#world.referee.holds(
          10,
          !isHis,
          () => `${subject.id}: load ${run.serial} ended with its caller`,
        );
      }
    });
    this.call(subject, 'get', () => get(signal), { mayWait: true, signal });
  }

  /** Starts what is due in the group: there are no more members than it starts at a time. */
  startGroup(instance: Instance): void {
    const { group, local, calendar, machine } = instance;
    if (group === undefined) return;
    const isIdle = group.inspect().running === 0;
    const due = [local, calendar].filter((value) => {
      const { isDue, paused, nextExecuteTime } = value.inspect();
      return isDue && !paused && nextExecuteTime <= machine.now();
    });
    this.ask(() => group.requestStart());
    if (!isIdle || instance.closing !== 'no') return;
    for (const value of due) {
      const { running, isDue, name } = value.inspect();
      this.#world.referee.holds('group', running || !isDue, () => {
        return `${instance.name}.${name}: it is due, and requestStart() does not start it`;
      });
    }
  }
}
