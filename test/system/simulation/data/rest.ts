import type { DataInstance } from './instance.ts';
import { noteOf } from './persons.ts';
import type { DataWorld } from './world.ts';

/** All waits have ended after that: leases, deadlines, cool-downs, rests of the backend, and the check of a pin. */
const LONGEST_MS = 100_000;

/** While nothing goes wrong each instance that is read follows within that: the check of a pin, a period and a load. */
const FOLLOWS_MS = 70_000;

/** Milliseconds between two reads of an instance. */
const READS_EVERY_MS = 4000;

/** After all faults are repaired all instances agree; a version can be put back everywhere, and released everywhere. */
export class DataRest {
  readonly #world: DataWorld;

  constructor(world: DataWorld) {
    this.#world = world;
  }

  async come(): Promise<void> {
    const { timeline, persons, misfortunes, signals, source } = this.#world;
    misfortunes.end();
    signals?.end();
    persons.end();
    source.end();
    this.#world.mend();
    const steps = [() => this.#isWell(), () => this.#putsBack(), () => this.#isStill()];
    await this.#readsFor(LONGEST_MS);
    for (const step of steps)
      if (this.#world.referee.violation === undefined && timeline.now > 0) await step();
  }

  #readsFor(ms: number): Promise<void> {
    return this.#world.readsFor(ms, READS_EVERY_MS, (instance) => this.#world.persons.read(instance));
  }

  async #isWell(): Promise<void> {
    for (const { name, status, held, waiting } of this.#world.open) {
      this.#holds(held !== undefined, () => `${name}: it has no value: ${status?.lastError}`);
      this.#holds(waiting <= 1, () => `${name}: ${waiting} calls are not answered`);
    }
  }

  async #putsBack(): Promise<void> {
    const { persons, scenario, shelf } = this.#world;
    const [first, ...others] = this.#world.open;
    if (!scenario.hasPins || first === undefined || others.length === 0) return;
    await this.#readsFor(scenario.period * 3); // there is a version to go back to
    const { present } = shelf;
    if (present === undefined) return;
    for (let tries = 0; tries < 3; tries++) {
      void persons.rollback(first, Infinity); // the version that it names may be gone by then
      await this.#readsFor(1000);
    }
    await this.#readsFor(FOLLOWS_MS);
    const pinned = shelf.present;
    this.#holds(pinned?.order !== undefined, () => `${first.name}: it puts no version back`);
    for (const { name, held, status, servesOwn } of this.#world.open) {
      const note = noteOf({ id: pinned?.order as number });
      const isThere = held?.serial === pinned?.serial && status?.pinned?.note === note;
      this.#holds(isThere || servesOwn, () => {
        return `${name}: it serves ${held?.serial}, and ${pinned?.serial} was put back on ${first.name}`;
      });
    }
    const last = others.at(-1) as DataInstance;
    void persons.unpin(last);
    await this.#readsFor(FOLLOWS_MS);
    for (const { name, held, status } of this.#world.open) {
      const isReleased = status?.pinned === undefined && held?.serial !== pinned?.serial;
      this.#holds(
        isReleased,
        () => `${name}: it serves ${held?.serial} still, though ${last.name} has ended the pin`,
      );
    }
  }

  /** Without reads nothing happens. */
  async #isStill(): Promise<void> {
    const { timeline } = this.#world;
    const since = timeline.now;
    await this.#world.until(() => timeline.now > since + LONGEST_MS);
    this.#world.isStill();
  }

  #holds(condition: boolean, message: () => string): void {
    this.#world.referee.holds('rest', condition, message);
  }
}
