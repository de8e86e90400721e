import type { Cluster } from './cluster.ts';
import { type Deed, drawDeed } from './deed.ts';
import { WEATHER } from './network.ts';
import type { Process } from './process.ts';

/** The greatest step of a wall clock, either way. */
const LONGEST_STEP_MS = 2 * 3_600_000;

/** The greatest step of the clock of the backend, either way. */
const LONGEST_CLOCK_STEP_MS = 2000;

/** The affected instance. */
interface Victim<W> {
  readonly world: W;
  readonly index: number;
  readonly instance: Process;
}

export type Misfortune<W> = Deed<Victim<W>>;

/** The faults of every cluster. */
const misfortunes: Readonly<Record<string, Misfortune<Cluster>>> = {
  weather: {
    weight: 10,
    act: ({ world, instance }) => {
      const weather = world.random.pick(['sound', 'sound', 'slow', 'lossy', 'cut'] as const);
      instance.link.weather = WEATHER[weather];
      world.trace.add(instance.name, () => `its connection is ${weather} from now on`);
    },
  },
  still: {
    weight: 8,
    act: ({ world, instance }) => {
      const { random, scenario } = world;
      world.standStill(instance, random.pick([50, scenario.leaseFor * random.between(0.5, 2.5)]));
    },
  },
  /** Suspended between the decision on a swap and the swap. */
  dozes: {
    weight: 4,
    act: ({ world, instance }) => {
      const { random, scenario } = world;
      instance.link.dozesFor = random.pick([50, scenario.leaseFor * random.between(0.5, 2.5)]);
    },
  },
  crash: {
    weight: 3,
    act: ({ world, index, instance }) => {
      world.trace.add(instance.name, () => 'crashes');
      instance.machine.crash();
      world.instances[index] = world.start(index);
    },
  },
  closes: {
    weight: 2,
    act: ({ world, index, instance }) => {
      if (instance.closing !== 'no') return;
      world.trace.add(instance.name, () => 'closes');
      void instance.close(world.random.pick([0, 300, 3000])).then(() => {
        if (world.instances[index] !== instance) return; // it has crashed since
        world.closed.push(instance);
        world.instances[index] = world.start(index);
      });
    },
  },
  stepsWall: {
    weight: 4,
    act: ({ world, instance }) => {
      instance.stepWall(world.random.between(-LONGEST_STEP_MS, LONGEST_STEP_MS));
      if (world.random.chance(0.5)) instance.unseenUntil = world.timeline.now + world.random.between(0, 3000);
    },
  },
  engineDown: {
    weight: 2,
    act: ({ world: { backend, random, timeline, trace } }) => {
      backend.isUp = false;
      trace.add('backend', () => 'goes down');
      timeline.plan(random.between(100, 4000), () => {
        backend.isUp = true;
        trace.add('backend', () => 'is up again');
      });
    },
  },
  damage: {
    weight: 2,
    act: ({ world: { backend, trace } }) => {
      backend.damageAll();
      trace.add('backend', () => 'has damaged its snapshots');
    },
  },
  engineForgets: {
    weight: 1,
    act: ({ world: { backend, trace } }) => {
      backend.loseAll();
      trace.add('backend', () => 'comes back empty');
    },
  },
};

/** The clock of the backend is set, forward or back. */
export const engineClock: Misfortune<Pick<Cluster, 'random' | 'trace' | 'backend'>> = {
  weight: 2,
  act: ({ world: { backend, random, trace } }) => {
    const ms = random.between(-LONGEST_CLOCK_STEP_MS, LONGEST_CLOCK_STEP_MS);
    backend.stepClock(ms);
    trace.add('backend', () => `its clock is stepped by ${ms.toFixed(0)} ms`);
  },
};

/** The source is in another state from now on: one of these. */
export function moodOf<N extends string, M>(
  weight: number,
  moods: Readonly<Record<N, M>>,
  names: readonly N[],
): Misfortune<Pick<Cluster, 'random' | 'trace'> & { readonly source: { mood: M } }> {
  return {
    weight,
    act: ({ world: { random, source, trace } }) => {
      const name = random.pick(names);
      source.mood = moods[name];
      trace.add('source', () => `is ${name} from now on`);
    },
  };
}

/** Faults at random times, and changes of the data of the source. */
export class Misfortunes<W extends Cluster> {
  readonly #world: W;
  readonly #all: Readonly<Record<string, Misfortune<W>>>;
  #isOver = false;

  /** @param own the faults of this kind of cluster. */
  constructor(world: W, own: Readonly<Record<string, Misfortune<W>>>) {
    this.#world = world;
    this.#all = { ...misfortunes, ...own };
  }

  begin(): void {
    const { scenario, source, random } = this.#world;
    this.#again(scenario.period * 1.5, () => {
      source.revision += 1;
    });
    if (scenario.misfortuneEvery === Infinity) return;
    this.#again(scenario.misfortuneEvery, () => drawDeed(this.#all, random).act(this.#victim()));
  }

  end(): void {
    this.#isOver = true;
  }

  #again(everyMs: number, act: () => void): void {
    const { random, timeline } = this.#world;
    timeline.plan(random.untilNext(everyMs), () => {
      if (this.#isOver) return;
      act();
      this.#again(everyMs, act);
    });
  }

  /** Prefers an instance that is loading, where a fault has the most effect. */
  #victim(): Victim<W> {
    const world = this.#world;
    const { random, instances } = world;
    const all = [...instances.keys()];
    const loading = all.filter((index) => instances[index]?.isLoading);
    const index = random.pick(loading.length > 0 && random.chance(0.7) ? loading : all);
    return { world, index, instance: instances[index] as Process };
  }
}
