import { Semaphore } from '../time/semaphore.ts';

/**
 * The places of the commands under way at one backend. A command holds its place until it has an answer, or until the backend was
 * silent: an adapter may never settle what was lost, and the places of lost commands must not keep all further ones waiting.
 */
export class CommandPlaces {
  readonly #places: Semaphore;
  /** Gives the place of each command back. */
  readonly #underWay: Set<() => void> = new Set();

  constructor(limit: number) {
    this.#places = new Semaphore(limit);
  }

  /** As `run` of a {@link Semaphore}. */
  run<R>(command: () => Promise<R>): Promise<R> {
    return this.#placed(command, (action) => this.#places.run(action));
  }

  /** As `runUrgent` of a {@link Semaphore}. */
  runUrgent<R>(command: () => Promise<R>): Promise<R> {
    return this.#placed(command, (action) => this.#places.runUrgent(action));
  }

  /** The backend is silent: the commands under way count as lost. Late answers are given to their callers. */
  silent(): void {
    for (const giveBack of this.#underWay) giveBack();
  }

  #placed<R>(command: () => Promise<R>, run: (action: () => Promise<void>) => Promise<void>): Promise<R> {
    return new Promise((resolve, reject) => {
      const action = (): Promise<void> =>
        new Promise((over) => {
          const giveBack = (): void => {
            this.#underWay.delete(giveBack);
            over();
          };
          this.#underWay.add(giveBack);
          const answer = command();
          answer.then(resolve, reject);
          answer.then(giveBack, giveBack);
        });
      void run(action);
    });
  }
}
