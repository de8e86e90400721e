import type { TicklessEvent } from '../../../../src/index.ts';
import type { Change, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** Rule 6: what becomes of a load is told, once. */
export class Told implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  /** A load was said to begin, and not what became of it. */
  #isOpen = false;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  told({ type }: TicklessEvent): void {
    const { referee } = this.#world;
    const { id } = this.#subject;
    switch (type) {
      case 'load-started':
        referee.holds(
          6,
          !this.#isOpen,
          () => `${id}: what became of a load was not told before the next began`,
        );
        this.#isOpen = true;
        break;
      case 'load-succeeded':
      case 'load-kept':
        referee.holds(6, this.#isOpen, () => `${id}: ${type} is told of a load that never began`);
        this.#isOpen = false;
        break;
      case 'load-failed': // also where the lock could not be asked, and no load began
      case 'load-timed-out':
        this.#isOpen = false;
        break;
    }
  }

  changed({ kind }: Change): void {
    if (kind === 'set' || kind === 'invalidate' || kind === 'drop') this.#isOpen = false;
  }

  stepped(): void {
    if (!this.#isOpen || this.#subject.instance.closing !== 'no') return; // at its end `close` ends loads without a word
    const isRunning = this.#subject.status?.running === true;
    this.#world.referee.holds(6, isRunning, () => `${this.#subject.id}: a load is over, and nobody was told`);
  }
}
