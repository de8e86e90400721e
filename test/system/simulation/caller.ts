import { type RefreshingValue, TicklessError } from '../../../src/index.ts';
import { type Instance, KEYS } from './instance.ts';
import { callers } from './source.ts';
import type { Call, Loaded, Subject } from './subject.ts';
import { errorText } from './words.ts';
import type { World } from './world.ts';

/** The limit of concurrent loads of a group. */
const MEMBERS = 3;

interface CallOptions {
  /** The caller chose to wait. */
  readonly mayWait?: boolean;
  /** The longest that it waits, in milliseconds. @default Infinity */
  readonly patience?: number;
  readonly signal?: AbortSignal;
  readonly isOfMany?: boolean;
}

/** Calls the public surface as users do, and records the documented promises. */
export class Caller {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** A call that returns a promise. A dropped promise must not become an unhandled rejection. */
  call(subject: Subject, what: Call['what'], ask: () => Promise<unknown>, options: CallOptions = {}): void {
    const call = this.#begin(subject, what, options);
    this.ask(() => subject.called(call, ask(), () => this.#traceEnd(subject, call)));
  }

  /** A read without a promise. */
  current(subject: Subject, read: () => Loaded): void {
    const call = this.#begin(subject, 'current');
    let outcome: NonNullable<Call['outcome']>;
    callers.run('a reader', () => {
      try {
        outcome = { value: read() };
      } catch (error) {
        outcome = { error };
      }
      subject.settled(call, outcome);
      this.#traceEnd(subject, call);
    });
  }

  /** Reads all keys in one call. */
  getMany(instance: Instance): void {
    const { codes } = instance;
    const errors = new Map<string, unknown>();
    const calls = KEYS.map((key) => {
      const ofKey = instance.subject(`codes[${key}]`);
      return { key, ofKey, call: this.#begin(ofKey, 'get', { mayWait: true, isOfMany: true }) };
    });
    this.ask(() => {
      const found = codes.getMany(KEYS, { onError: (error, key) => errors.set(key, error) });
      for (const { key, ofKey, call } of calls) {
        const one = found.then((values) => {
          if (values.has(key)) return values.get(key);
          const about = { member: 'codes', key, retryAfter: 0 };
          throw errors.get(key) ?? new TicklessError('ABSENT', 'it is missing from getMany', about);
        });
        ofKey.called(call, one, () => this.#traceEnd(ofKey, call));
      }
    });
  }

  #begin(
    subject: Subject,
    what: Call['what'],
    { mayWait = false, patience = Infinity, signal, isOfMany = false }: CallOptions = {},
  ): Call {
    const world = this.#world;
    const held = subject.held.now;
    const wasLoaded = held.value !== undefined;
    const { maxStaleness } = world.scenario;
    const isTooStale = subject.options.mayBeTooStale && !((held.age ?? Infinity) <= maxStaleness - 1);
    const isRead = what === 'get' || what === 'current';
    // A key that is loaded for the same call may evict it before it is read.
    const mayNotGo = world.scenario.maxKeys === KEYS.length;
    const call: Call = {
      what,
      order: world.next(),
      at: world.timeline.now,
      held,
      wasLoaded,
      isServed: isRead && wasLoaded && !isTooStale && (isOfMany ? mayNotGo : !mayWait),
      isOfMany,
      mayWait: mayWait || isTooStale || what !== 'get',
      patience,
      signal,
      hasWaited: false,
      outcome: undefined,
    };
    if (what === 'get' && !call.mayWait) world.commands.read(subject);
    else if (!wasLoaded) world.commands.missed(subject);
    world.trace.add(subject.id, () => `${what} (${call.order})${wasLoaded ? '' : ', of none'}`);
    if (isRead || what === 'request') subject.reads();
    return call;
  }

  #traceEnd(subject: Subject, { what, order, at, outcome = { value: undefined } }: Call): void {
    const { trace, timeline } = this.#world;
    trace.add(subject.id, () => {
      const waited = timeline.now > at ? `after ${(timeline.now - at).toFixed(1)} ms` : 'at once';
      if ('error' in outcome) return `${what} (${order}) fails ${waited}: ${errorText(outcome.error)}`;
      const { value } = outcome as { readonly value: Loaded | undefined };
      return `${what} (${order}) is answered ${waited}${value === undefined ? '' : ` with load ${value.serial}`}`;
    });
  }

  /** Calls as a reader does: in an async context of its own. */
  ask(ask: () => unknown): void {
    callers.run('a reader', () => {
      try {
        void ask();
      } catch {
        // the call reports its failure itself
      }
    });
  }

  /** Sets a value by hand. */
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
      () => `${subject.id}: the value that was set is not served`,
    );
  }

  /** A caller that waits for a fresh value, and aborts its wait. */
  leave(subject: Subject, patience: number, get: (signal: AbortSignal) => Promise<unknown>): void {
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
    this.call(subject, 'get', () => get(signal), { mayWait: true, patience, signal });
  }

  /** Starts the due members of the group: all of them, if its concurrency is not below the number of members. */
  startGroup(instance: Instance): void {
    const { group, local, calendar, machine, isUnseen, emitting } = instance;
    if (group === undefined) return;
    if (isUnseen) {
      this.ask(() => group.requestStart());
      return;
    }
    const isIdle = group.inspect().running === 0;
    // One whose load has failed on this stack cools down, and is due all the same.
    const isToStart = (value: RefreshingValue<Loaded>): boolean => {
      const { isDue, running, nextExecuteTime } = value.inspect();
      return isDue && !running && nextExecuteTime <= machine.now();
    };
    const due = [local, calendar].filter((value) => {
      const { name, paused } = value.inspect();
      const isSettling = name === emitting; // it has its place in the queue when all of its outcome is in place
      return isToStart(value) && !paused && !isSettling;
    });
    this.ask(() => group.requestStart());
    if (!isIdle || instance.closing !== 'no') return;
    if (this.#world.scenario.concurrency < MEMBERS) {
      const hasEnded = due.some((value) => !isToStart(value)); // its load has ended on this stack
      const isAtIt = due.length === 0 || hasEnded || group.inspect().running > 0;
      this.#world.referee.holds(
        'group',
        isAtIt,
        () => `${instance.name}: requestStart() starts none of its group`,
      );
      return;
    }
    for (const value of due) {
      this.#world.referee.holds('group', !isToStart(value), () => {
        return `${instance.name}.${value.inspect().name}: it is due, and requestStart() does not start it`;
      });
    }
  }
}
