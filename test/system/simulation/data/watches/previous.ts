import type { DataRun, DataWatch, Question } from '../watch.ts';
import type { DataWorld } from '../world.ts';

/** A backend that has not answered rests for half a minute at most. */
const RESTS_MS = 35_000;

/**
 * Rule 23, of guards that compare: they get the value that would be replaced; an instance without one the last snapshot of
 * the store, so that a restart does not forget what is normal.
 */
export class Previous implements DataWatch {
  readonly #world: DataWorld;

  constructor(world: DataWorld) {
    this.#world = world;
  }

  began(run: DataRun): void {
    const held = run.instance.prices.peek();
    this.#holds(
      run.previous === held,
      run,
      `a load gets ${run.previous?.serial} as previous, and ${held?.serial} is held`,
    );
  }

  asked({ run, previous }: Question): void {
    if (run.signal.aborted) return; // its result is dropped
    const { shelf } = this.#world;
    if (run.previous !== undefined) {
      this.#holds(previous === run.previous, run, `the guard gets ${previous?.serial} to compare with`);
    } else if (previous === undefined) {
      this.#holds(
        this.#mayBeUnknown(run),
        run,
        'the guard gets nothing to compare with, and the store has a version',
      );
    } else {
      this.#holds(shelf.published.has(previous.serial), run, `${previous.serial} was never published`);
    }
  }

  /** The store has none, or could not be read. */
  #mayBeUnknown({ instance, begunAt }: DataRun): boolean {
    const { scenario, shelf } = this.#world;
    if (!scenario.hasStore || shelf.present === undefined || shelf.present.mark) return true;
    return shelf.uncertainAt >= begunAt - scenario.timeout || !this.#world.isWellFor(instance, RESTS_MS);
  }

  #holds(condition: boolean, { instance, serial }: DataRun, message: string): void {
    this.#world.referee.holds(23, condition, () => `${instance.name}: load ${serial}: ${message}`);
  }
}
