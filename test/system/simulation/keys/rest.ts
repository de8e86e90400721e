import type { KeysWorld } from './world.ts';

/** All waits have ended after that: leases, deadlines, cool-downs, rests of the backend. */
const LONGEST_MS = 60_000;

/** Milliseconds between two reads of an instance. */
const READS_EVERY_MS = 3000;

/** After all faults are repaired each instance has its keys; without reads nothing happens. */
export class KeysRest {
  readonly #world: KeysWorld;

  constructor(world: KeysWorld) {
    this.#world = world;
  }

  async come(): Promise<void> {
    const world = this.#world;
    const { timeline, persons } = world;
    world.misfortunes.end();
    persons.end();
    world.source.end();
    world.mend();
    await world.readsFor(LONGEST_MS, READS_EVERY_MS, (instance) => persons.readAll(instance));
    if (world.referee.violation === undefined) this.#isWell();
    const since = timeline.now;
    await world.until(() => timeline.now > since + LONGEST_MS);
    if (world.referee.violation === undefined) world.isStill();
  }

  #isWell(): void {
    const { referee, open, scenario } = this.#world;
    for (const { name, keys, waiting } of open) {
      const held = [...keys.values()].filter((key) => key.held !== undefined).length;
      referee.holds('rest', held >= scenario.maxKeys, () => `${name}: it has ${held} keys`);
      referee.holds('rest', waiting <= keys.size, () => `${name}: ${waiting} calls are not answered`);
    }
  }
}
