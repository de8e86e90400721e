import { WEATHER } from '../network.ts';
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
    const { timeline, persons, misfortunes, source, backend, instances, trace } = this.#world;
    misfortunes.end();
    persons.end();
    source.end();
    trace.add('world', () => 'all is mended');
    backend.isUp = true;
    for (const { link, machine } of instances) {
      link.weather = WEATHER.sound;
      machine.goOn();
    }
    const until = timeline.now + LONGEST_MS;
    const again = (): void => {
      if (timeline.now >= until) return;
      for (const instance of instances)
        if (instance.closing === 'no')
          instance.machine.receive(this.#world.random.between(0, READS_EVERY_MS), () =>
            persons.readAll(instance),
          );
      timeline.plan(READS_EVERY_MS, again);
    };
    timeline.plan(0, again);
    timeline.plan(LONGEST_MS, () => {});
    await this.#world.until(() => timeline.now >= until);
    if (this.#world.referee.violation === undefined) this.#isWell();
    const since = timeline.now;
    await this.#world.until(() => timeline.now > since + LONGEST_MS);
    if (this.#world.referee.violation === undefined) this.#isStill();
  }

  #isWell(): void {
    const { referee, instances, scenario } = this.#world;
    for (const { name, closing, keys, waiting } of instances) {
      if (closing !== 'no') continue;
      const held = [...keys.values()].filter((key) => key.held !== undefined).length;
      referee.holds('rest', held >= scenario.maxKeys, () => `${name}: it has ${held} keys`);
      referee.holds('rest', waiting <= keys.size, () => `${name}: ${waiting} calls are not answered`);
    }
  }

  #isStill(): void {
    const { referee, instances } = this.#world;
    for (const { name, machine, waiting, closing } of instances) {
      if (closing === 'closing') continue;
      referee.holds(8, machine.timersAhead === 0, () => `${name}: a timer runs without reads`);
      referee.holds(4, waiting === 0, () => `${name}: ${waiting} calls are never answered`);
    }
  }
}
