import { AsyncLocalStorage } from 'node:async_hooks';
import { absent, keep, loaded } from '../../../src/index.ts';
import type { Loaded, LoadRun, Subject } from './subject.ts';
import type { World } from './world.ts';

/** The context of a load. */
interface Context {
  readonly signal: AbortSignal;
  readonly attempt: number;
  readonly trigger: string;
  readonly token?: number;
  readonly previous?: { readonly value: unknown } | undefined;
}

/** The keys of a batch get their results at the same time. */
export interface Batch {
  readonly takes: number;
}

type Weights = Readonly<Record<string, number>>;

/** The state of the source. */
export const MOODS: Readonly<Record<'calm' | 'well' | 'ill' | 'down', Weights>> = {
  calm: { value: 1 },
  well: {
    value: 30,
    slow: 8,
    synchronous: 4,
    kept: 6,
    same: 6,
    said: 4,
    tagged: 4,
    absent: 3,
    fails: 1,
    asksForRest: 0.3,
  },
  ill: {
    value: 8,
    slow: 8,
    long: 8,
    synchronous: 2,
    kept: 2,
    same: 2,
    absent: 1,
    fails: 8,
    throws: 5,
    asksForRest: 3,
    hangs: 3,
    hangsUntilAborted: 3,
    late: 4,
    badThen: 1,
    nothing: 1,
  },
  down: { fails: 10, throws: 3, asksForRest: 1, hangs: 1 },
};

/** The `Retry-After` of the source, in seconds. */
export const RETRY_AFTER_S = 3;

/** The possible results of a key in a batch. */
const TOGETHER = ['value', 'kept', 'same', 'tagged', 'absent', 'fails', 'asksForRest', 'hangs'];

/** The async context of readers: no load may see it (rule 10). */
export const callers: AsyncLocalStorage<string> = new AsyncLocalStorage();

/** The source of all instances. Its data change now and then. */
export class Source {
  mood: Weights;
  revision: number = 1;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.mood = world.scenario.isCalm ? MOODS.calm : MOODS.well;
  }

  /** One call of a load: it returns, throws or hangs at random. */
  load(subject: Subject, context: Context, batch?: Batch): unknown {
    const { world, run } = this.#begin(subject, context, batch !== undefined);
    const { random, timeline } = world;
    const { machine } = subject.instance;
    const fate = this.#fate(subject, context, batch !== undefined);
    world.trace.add(subject.id, () => {
      const under = run.token === undefined ? '' : `, token ${run.token}`;
      return `load ${run.serial} begins (${run.trigger}, try ${run.attempt}${under}), and ${fate}`;
    });
    const end = (brought: LoadRun['brought']): void => {
      run.endedAt = timeline.now;
      run.endedAtOwn = machine.monotonic();
      run.brought = brought;
      run.wasStopped = run.signal.aborted;
      world.freshened(run);
      world.trace.add(subject.id, () => {
        return `load ${run.serial} ends: ${brought}${run.wasStopped ? ', too late' : ''}`;
      });
      subject.ended(run);
    };
    const value: Loaded = { serial: run.serial, revision: run.revision };
    const takes = batch?.takes ?? (fate === 'slow' ? random.between(100, 700) : random.between(0, 30));
    const after = (ms: number, brought: LoadRun['brought'], answer: unknown): Promise<unknown> =>
      new Promise((resolve, reject) => {
        machine.receive(ms, () => {
          end(brought);
          if (brought === 'error') reject(answer);
          else resolve(answer);
        });
      });
    switch (fate) {
      case 'synchronous':
        end('value');
        return value;
      case 'kept':
        return after(takes, 'kept', keep());
      case 'same': {
        const { value: again } = context.previous as { readonly value: Loaded };
        run.same = again.serial;
        return after(takes, 'same', { ...again });
      }
      case 'said': {
        const inMs = random.between(50, 2000);
        world.said.add(run.serial);
        return after(takes, 'value', loaded(value, { dueAfter: inMs }));
      }
      case 'tagged':
        world.tagged.add(run.serial);
        return after(takes, 'value', loaded(value, { tags: ['tagged'] }));
      case 'absent':
        return after(takes, 'absent', absent());
      case 'fails':
        return after(takes, 'error', new Error(`load ${run.serial} failed`));
      case 'asksForRest': {
        const error = Object.assign(new Error(`load ${run.serial} asks for rest`), {
          retryAfter: RETRY_AFTER_S,
        });
        return after(takes, 'error', error);
      }
      case 'throws':
        end('error');
        throw new Error(`load ${run.serial} threw`);
      case 'nothing':
        end('error');
        return undefined;
      case 'badThen':
        end('error');
        return {
          get then(): never {
            throw new Error(`load ${run.serial} has a bad then`);
          },
        };
      case 'hangs':
        return new Promise(() => {});
      case 'hangsUntilAborted':
        return new Promise((_, reject) => {
          run.signal.addEventListener('abort', () => {
            end('error');
            reject(run.signal.reason);
          });
        });
      case 'long':
        return after(subject.options.timeout * random.between(0.2, 0.95), 'value', value);
      case 'late':
        return after(random.between(1000, 10_000), 'value', value);
      default:
        return after(takes, 'value', value);
    }
  }

  #begin(subject: Subject, context: Context, isBatched: boolean): { world: World; run: LoadRun } {
    const world = this.#world;
    const run: LoadRun = {
      serial: world.next(),
      subject,
      trigger: context.trigger,
      attempt: context.attempt,
      token: context.token,
      signal: context.signal,
      isBatched,
      revision: this.revision,
      begunAt: world.timeline.now,
      begunAtOwn: subject.instance.machine.monotonic(),
      endedAt: undefined,
      endedAtOwn: undefined,
      brought: undefined,
      same: undefined,
      wasStopped: false,
    };
    world.runs.set(run.serial, run);
    const isClean = callers.getStore() === undefined || subject.id.endsWith('nightly');
    world.referee.holds(10, isClean, () => {
      return `${subject.id}: load ${run.serial} sees the context of its reader`;
    });
    world.referee.holds(
      1,
      !context.signal.aborted,
      () => `${subject.id}: load ${run.serial} begins when it is over`,
    );
    subject.began(run);
    if (run.token !== undefined) this.#haunt(subject.instance);
    return { world, run };
  }

  /** Now and then a machine is suspended while it loads under a lease, and for longer than the lease. */
  #haunt(instance: Subject['instance']): void {
    const { scenario, random, timeline, actions } = this.#world;
    if (scenario.misfortuneEvery === Infinity || actions.isOver || !random.chance(0.01)) return;
    timeline.plan(random.between(0, 10), () => {
      if (actions.isOver || instance.machine.hasCrashed) return;
      this.#world.standStill(instance, scenario.leaseFor * random.between(1, 2));
    });
  }

  /** Picks the outcome; outcomes that would be false or make no sense here are left out. */
  #fate(subject: Subject, { previous }: Context, isBatched: boolean): string {
    const fate = this.#world.random.weighted(this.mood);
    const held = previous?.value as Loaded | undefined;
    const { holdsValue } = subject.options;
    const isKeyed = subject.id.includes('[');
    if (isBatched && !TOGETHER.includes(fate)) return 'value';
    switch (fate) {
      case 'kept':
      case 'same':
        return held !== undefined && held.revision === this.revision ? fate : 'value';
      case 'absent':
        return isKeyed ? fate : 'value';
      case 'tagged':
        return isKeyed ? fate : 'value';
      case 'said':
        return holdsValue && !subject.options.hasLock ? fate : 'value';
      case 'nothing':
        return holdsValue ? fate : 'value';
      default:
        return fate;
    }
  }
}
