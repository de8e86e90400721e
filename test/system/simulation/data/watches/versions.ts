import type { DataInstance } from '../instance.ts';
import type { DataWatch } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** Rule 13: no instance goes back to a lower version; a version that is put back into place has a new number. */
export class Versions implements DataWatch {
  readonly #world: DataWorld;
  readonly #highest: Map<DataInstance, number> = new Map();

  constructor(world: DataWorld) {
    this.#world = world;
  }

  stepped(instance: DataInstance): void {
    const version = instance.status?.lock?.version;
    if (version === undefined) return;
    const highest = this.#highest.get(instance) ?? 0;
    this.#world.referee.holds(
      13,
      version >= highest,
      () => `${instance.name}: version ${version} after version ${highest}`,
    );
    this.#highest.set(instance, Math.max(version, highest));
  }
}
