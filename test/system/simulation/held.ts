import type { TicklessEvent } from '../../../src/index.ts';
import type { Change, Loaded, Subject, Watch } from './subject.ts';

/** The value of a subject at an instant, as far as its readers can know. */
export interface Holding {
  readonly value: Loaded | undefined;
  /** By the monotonic clock of its machine; `undefined`: unknown. */
  readonly age: number | undefined;
}

/** The value of a subject, and its age. It is not read from the status, because that would compare the clocks. */
export class Held implements Watch {
  readonly #subject: Subject;
  /** When each value was last seen, in the order of loads and changes. */
  readonly #seen: Map<Loaded, number> = new Map();
  #loadedAt: number | undefined;
  /** In the order of loads and changes. */
  #absentAt = -1;
  #isAbsent = false;
  isPaused: boolean = false;
  /** In the order of loads and changes. */
  #resumedAt = -1;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  get now(): Holding {
    const value = this.#subject.peek();
    const isKnown = value !== undefined && this.#loadedAt !== undefined;
    return { value, age: isKnown ? this.#monotonic - (this.#loadedAt as number) : undefined };
  }

  /** The value was held at or after that instant. */
  hasHeld(value: unknown, since: number): boolean {
    this.#look();
    return (this.#seen.get(value as Loaded) ?? -1) >= since;
  }

  /** The source had no such key at or after that instant. */
  wasAbsent(since: number): boolean {
    return this.#isAbsent || this.#absentAt >= since;
  }

  /** It was paused at or after that instant. */
  wasPaused(since: number): boolean {
    return this.isPaused || this.#resumedAt >= since;
  }

  emitted(event: TicklessEvent): void {
    this.#look();
    if (event.type !== 'load-ended') return;
    switch (event.outcome) {
      case 'loaded':
      case 'kept':
      case 'adopted':
        this.#absent(event.outcome === 'adopted' ? this.#subject.peek() === undefined : event.isAbsent);
        this.#loadedAt = this.#monotonic - (event.age ?? 0);
        break;
      case 'late':
      case 'deferred':
        break;
      default:
        if (event.retryAt !== undefined) this.#absent(false);
    }
  }

  changed({ kind, value }: Change): void {
    if (kind === 'pause') this.isPaused = true;
    if (kind === 'resume') {
      this.isPaused = false;
      this.#resumedAt = this.#order;
    }
    if (kind !== 'set' && kind !== 'invalidate' && kind !== 'drop') return;
    this.#look();
    this.#absent(false);
    if (kind !== 'set') return;
    this.#seen.set(value as Loaded, this.#order);
    this.#loadedAt = this.#monotonic;
  }

  stepped(): void {
    this.#look();
  }

  unseen(): void {
    this.#look();
  }

  #look(): void {
    const value = this.#subject.peek();
    if (value !== undefined) this.#seen.set(value, this.#order);
  }

  #absent(isAbsent: boolean): void {
    if (this.#isAbsent || isAbsent) this.#absentAt = this.#order;
    this.#isAbsent = isAbsent;
  }

  get #order(): number {
    return this.#subject.instance.world.last;
  }

  get #monotonic(): number {
    return this.#subject.instance.machine.monotonic();
  }
}
