import type { Cluster } from '../cluster.ts';
import { WEATHER } from '../network.ts';
import type { Process } from '../process.ts';

/**
 * When each instance of a cluster could last not do all that it had to. A fault is over when the commands that were sent
 * during it are answered, or have timed out.
 */
export class Troubles {
  readonly #world: Cluster;
  #spoiled = 0;
  #wasUp = true;

  constructor(world: Cluster) {
    this.#world = world;
  }

  /** To be called after each step. @returns whether the backend has lost or damaged its data since the last call. */
  look(): boolean {
    const { instances, timeline, backend } = this.#world;
    const { spoiled, isUp } = backend;
    const isSpoiled = spoiled !== this.#spoiled;
    const isForAll = isSpoiled || isUp !== this.#wasUp;
    this.#spoiled = spoiled;
    this.#wasUp = isUp;
    for (const instance of instances) {
      const { machine, link } = instance;
      const isIll = !machine.hasCrashed && (link.weather !== WEATHER.sound || !machine.isAwake || !isUp);
      if (isForAll || isIll) instance.faultAt = timeline.now;
      if (instance.faultAt === timeline.now || link.awaitsOneOf(instance.faultAt)) {
        instance.troubledAt = timeline.now;
      }
    }
    return isSpoiled;
  }

  /** For so long it could do all that it had to. */
  isWellFor({ troubledAt }: Process, ms: number): boolean {
    return this.#world.timeline.now - troubledAt > ms;
  }
}
