import type { AcceptDetails } from '../../../../src/guard/accept.ts';
import { keep, type LoadContext } from '../../../../src/index.ts';
import type { Random } from '../random.ts';
import type { Timeline } from '../timeline.ts';
import type { Trace } from '../trace.ts';
import { type Edition, editionOf, guard, type Quality } from './edition.ts';
import type { DataRun, DataWatch, Holder } from './watch.ts';

/** The state of the source: how often its loads end in which way. */
export const MOODS: Readonly<Record<'calm' | 'well' | 'ill', Readonly<Record<string, number>>>> = {
  calm: { value: 1 },
  well: { value: 30, slow: 6, synchronous: 4, kept: 3, fails: 1 },
  ill: { value: 8, slow: 6, long: 3, kept: 1, fails: 6, throws: 3, hangs: 2, hangsUntilAborted: 2 },
};

const BAD = ['half', 'half', 'empty', 'garbage'] as const;

/** The world of a source, as far as the source needs it. */
interface Surroundings<H extends Holder> {
  readonly random: Random;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly scenario: { readonly timeout: number; readonly badEvery: number; readonly isAsync: boolean };
  readonly runs: ReadonlyMap<number, DataRun<H>>;
  readonly watches: readonly Pick<DataWatch<H>, 'returned' | 'asked'>[];
  next(): number;
  /** A load has begun. */
  began(run: DataRun<H>): void;
}

/** The source of all instances. It returns bad data for a while, now and then. */
export class DataSource<H extends Holder> {
  revision: number = 1;
  mood: Readonly<Record<string, number>> = MOODS.well;
  quality: Quality = 'full';
  readonly #world: Surroundings<H>;
  #isOver = false;

  constructor(world: Surroundings<H>) {
    this.#world = world;
  }

  begin(): void {
    const { random, timeline, trace, scenario } = this.#world;
    const turn = (quality: Quality, forMs: number): void => {
      timeline.plan(forMs, () => {
        if (this.#isOver) return;
        this.quality = quality;
        trace.add('source', () => `returns ${quality} editions from now on`);
        if (quality === 'full') turn(random.pick(BAD), random.untilNext(scenario.badEvery));
        else turn('full', random.between(500, 8000));
      });
    };
    turn(random.pick(BAD), random.untilNext(scenario.badEvery));
  }

  end(): void {
    this.#isOver = true;
    this.quality = 'full';
    this.mood = MOODS.calm;
  }

  load(instance: H, context: LoadContext<Edition>): Edition | Promise<Edition> {
    const world = this.#world;
    const { random, trace } = world;
    const run = this.#begin(instance, context);
    const fate = this.#fate(run);
    trace.add(instance.name, () => {
      const under = run.token === undefined ? '' : `, token ${run.token}`;
      return `load ${run.serial} begins (${run.trigger}${under}), and ${fate}: ${run.quality}`;
    });
    const end = (value?: Edition): void => {
      instance.running.delete(run);
      trace.add(instance.name, () => `load ${run.serial} ends${run.signal.aborted ? ', too late' : ''}`);
      if (value !== undefined) for (const watch of world.watches) watch.returned?.(run, value);
    };
    const value = editionOf(run.serial, run.quality);
    const after = (ms: number): Promise<Edition> =>
      new Promise((resolve, reject) => {
        instance.machine.receive(ms, () => {
          end(fate === 'kept' || fate === 'fails' ? undefined : value);
          if (fate === 'fails') reject(new Error(`load ${run.serial} failed`));
          else resolve(fate === 'kept' ? (keep() as never) : value);
        });
      });
    switch (fate) {
      case 'synchronous':
        end(value);
        return value;
      case 'throws':
        end();
        throw new Error(`load ${run.serial} threw`);
      case 'hangs':
        return new Promise(() => {});
      case 'hangsUntilAborted':
        return new Promise((_, reject) => {
          run.signal.addEventListener('abort', () => {
            end();
            reject(run.signal.reason);
          });
        });
      case 'slow':
        return after(random.between(100, 700));
      case 'long':
        return after(world.scenario.timeout * random.between(0.2, 0.95));
      default:
        return after(random.between(0, 30));
    }
  }

  /** The guard of the members: it is asked about the result of a load. */
  judge(
    instance: H,
    candidate: Edition,
    details: AcceptDetails<Edition>,
  ): true | string | Promise<true | string> {
    const world = this.#world;
    const run = world.runs.get(candidate.serial) as DataRun<H>;
    const previous = details.previous?.value;
    const verdict = guard(candidate, details) as true | string;
    const answer = (): true | string => {
      world.trace.add(instance.name, () => {
        const before = previous === undefined ? 'nothing' : previous.serial;
        return `the guard compares ${candidate.serial} with ${before}: ${verdict}`;
      });
      for (const watch of world.watches)
        watch.asked?.({ run, candidate, previous, isAccepted: verdict === true });
      return verdict;
    };
    if (!world.scenario.isAsync) return answer();
    return new Promise((resolve) =>
      instance.machine.receive(world.random.between(0, 20), () => resolve(answer())),
    );
  }

  #begin(instance: H, { trigger, attempt, token, signal, previous }: LoadContext<Edition>): DataRun<H> {
    const world = this.#world;
    const run: DataRun<H> = {
      serial: world.next(),
      instance,
      trigger,
      attempt,
      token,
      signal,
      quality: this.quality,
      previous: previous?.value,
      begunAt: world.timeline.now,
    };
    instance.running.add(run);
    world.began(run);
    return run;
  }

  #fate({ previous }: DataRun<H>): string {
    const fate = this.#world.random.weighted(this.mood);
    return fate === 'kept' && (previous === undefined || this.quality !== 'full') ? 'value' : fate;
  }
}
