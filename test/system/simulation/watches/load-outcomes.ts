import type { TicklessEvent } from '../../../../src/index.ts';
import { type Change, isKeptElsewhere, type Subject, type Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** Rule 6: the outcome of each load is emitted once. */
export class LoadOutcomes implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  /** A load has begun, and its outcome was not emitted yet. */
  #isOpen = false;
  /** It was changed meanwhile: a load that goes on emits its outcome, one that is aborted does not. */
  #mayHaveEnded = false;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  emitted(event: TicklessEvent): void {
    const { type } = event;
    if (isKeptElsewhere(event)) return;
    const { referee } = this.#world;
    const { id } = this.#subject;
    switch (type) {
      case 'load-started':
        referee.holds(
          6,
          !this.#isOpen,
          () => `${id}: the outcome of a load was not emitted before the next began`,
        );
        this.#isOpen = true;
        this.#mayHaveEnded = false;
        break;
      case 'load-succeeded':
      case 'load-kept':
        referee.holds(
          6,
          this.#isOpen || this.#mayHaveEnded,
          () => `${id}: ${type} is emitted for a load that never began`,
        );
        this.#isOpen = this.#mayHaveEnded = false;
        break;
      case 'load-failed': // also if the lock was unavailable, and no load began
      case 'load-timed-out':
        this.#isOpen = false;
        break;
    }
  }

  changed({ kind }: Change): void {
    if (kind !== 'set' && kind !== 'invalidate' && kind !== 'drop') return;
    this.#mayHaveEnded ||= this.#isOpen;
    this.#isOpen = false;
  }

  stepped(): void {
    if (!this.#isOpen || this.#subject.instance.closing !== 'no') return; // `close` ends loads without an event
    const isRunning = this.#subject.status?.running === true;
    this.#world.referee.holds(
      6,
      isRunning,
      () => `${this.#subject.id}: a load is over, and its outcome was not emitted`,
    );
  }
}
