import type { TicklessEvent } from '../../../../src/index.ts';
import type { Change, Subject, Watch } from '../subject.ts';
import type { World } from '../world.ts';

/** Rule 6: the outcome of each load is emitted once. */
export class LoadOutcomes implements Watch {
  readonly #subject: Subject;
  readonly #world: World;
  /** A load has begun, and its outcome was not emitted yet. */
  #isOpen = false;
  /** It was changed meanwhile: a load that goes on emits its outcome now, one that is aborted a moment later. */
  #mayHaveEnded = false;

  constructor(subject: Subject, world: World) {
    this.#subject = subject;
    this.#world = world;
  }

  emitted(event: TicklessEvent): void {
    const { referee } = this.#world;
    const { id } = this.#subject;
    if (event.type === 'load-started') {
      referee.holds(
        6,
        !this.#isOpen,
        () => `${id}: the outcome of a load was not emitted before the next began`,
      );
      this.#isOpen = true;
      this.#mayHaveEnded = false;
    }
    if (event.type !== 'load-ended') return;
    switch (event.outcome) {
      case 'loaded':
      case 'kept':
        referee.holds(
          6,
          this.#isOpen || this.#mayHaveEnded,
          () => `${id}: ${event.outcome} is emitted for a load that never began`,
        );
        this.#isOpen = this.#mayHaveEnded = false;
        break;
      case 'late':
      case 'adopted':
      case 'deferred':
        break;
      default: // also if the lock was unavailable, and no load began
        this.#isOpen = false;
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
