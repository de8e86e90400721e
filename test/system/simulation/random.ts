import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { mersenne } from 'pure-rand/generator/mersenne';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/** All chance of a simulation, from its seed. */
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

  /** Anywhere between both. */
  between(least: number, most: number): number {
    return least + (most - least) * this.next();
  }

  /** A whole number, both included. */
  whole(least: number, most: number): number {
    return uniformInt(this.#generator, least, most);
  }

  /** The time to the next of events that come every so many milliseconds on average (a Poisson process). */
  untilNext(everyMs: number): number {
    return -Math.log(1 - this.next()) * everyMs;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.whole(0, items.length - 1)] as T;
  }

  /** One of the names, as often as its weight says. */
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
