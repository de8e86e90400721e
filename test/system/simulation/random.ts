import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { mersenne } from 'pure-rand/generator/mersenne';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/** The random numbers of a simulation, from its seed. */
export class Random {
  readonly #generator: RandomGenerator;

  constructor(seed: number) {
    this.#generator = mersenne(seed);
  }

  /** From 0 to below 1. */
  next(): number {
    return uniformFloat64(this.#generator);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A number between both. */
  between(least: number, most: number): number {
    return least + (most - least) * this.next();
  }

  /** A whole number, both included. */
  whole(least: number, most: number): number {
    return uniformInt(this.#generator, least, most);
  }

  /** The time to the next event of a Poisson process with that mean interval in milliseconds. */
  untilNext(everyMs: number): number {
    return -Math.log(1 - this.next()) * everyMs;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.whole(0, items.length - 1)] as T;
  }

  /** Picks a name at random, in proportion to the weights. */
  weighted<N extends string>(weights: Readonly<Record<N, number>>): N {
    const names = Object.keys(weights) as N[];
    let left = this.next() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    return names[0] as N;
  }
}
