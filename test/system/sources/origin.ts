import type { Clock } from '../../../src/index.ts';

/** The time of a cluster, which begins after its origins are made. */
type Time = Pick<Clock, 'now' | 'monotonic'>;

/** An edition of the data of one origin: which it is, and where it is from. */
export interface Edition {
  readonly origin: string;
  readonly edition: number;
  /** When it was made, epoch milliseconds; a mirror has the time of its original. */
  readonly madeAt: number;
  readonly items: readonly string[];
}

/**
 * Where data comes from: it has one edition at a time, and one fault at most. It knows when it held which edition, so that a test
 * can say how old a value is.
 */
export class Origin {
  readonly name: string;
  /** What went wrong in answers, by its name. */
  readonly faults: Map<string, number> = new Map();
  fault: string | undefined;
  /** Since when it has had no fault (monotonic). */
  healthySince = 0;
  /** Epoch milliseconds. */
  editedAt: number;
  readonly #clock: Time;
  /** When each edition was replaced (monotonic); the first one is 1. */
  readonly #replacedAt: number[] = [];

  constructor(name: string, clock: Time, editedAt: number) {
    this.name = name;
    this.#clock = clock;
    this.editedAt = editedAt;
  }

  get edition(): number {
    return this.#replacedAt.length + 1;
  }

  get content(): Edition {
    const { name: origin, edition, editedAt: madeAt } = this;
    return { origin, edition, madeAt, items: ['tea', 'milk', `edition ${edition}`] };
  }

  /** Another edition. @param editedAt when it was made; a mirror has it later. */
  publish(editedAt: number = this.#clock.now()): void {
    this.#replacedAt.push(this.#clock.monotonic());
    this.editedAt = editedAt;
  }

  break(fault: string): void {
    this.fault = fault;
  }

  mend(): void {
    this.fault = undefined;
    this.healthySince = this.#clock.monotonic();
  }

  /** How long it has had no fault. */
  healthyFor(): number {
    return this.fault === undefined ? this.#clock.monotonic() - this.healthySince : 0;
  }

  /** For how long it has had a later edition than that. */
  supersededFor(edition: number): number {
    const at = this.#replacedAt[edition - 1];
    return at === undefined ? 0 : this.#clock.monotonic() - at;
  }

  /** The fault of this answer, which is counted. */
  takeFault(): string | undefined {
    const { fault } = this;
    if (fault !== undefined) this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    return fault;
  }
}
