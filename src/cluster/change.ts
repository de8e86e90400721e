import type { PersonalChange } from './backend-steps.ts';
import { randomId } from './identity.ts';
import { LONGEST_LEASE_MS } from './longest-lease.ts';
import type { WriteRight } from './snapshot-writer.ts';

/** The conditions of a change of a person, and the pin that comes with it. */
type Conditions = Pick<PersonalChange, 'expected' | 'sparesPinned'> & {
  /** Its version is pinned until it is due. */
  readonly pins: boolean;
};

/** One command of a person, for as long as it may be sent. The backend gives it its version. */
export class Change implements WriteRight {
  readonly token: undefined = undefined;
  /** Sent again, it is the same change. */
  readonly #id: string = randomId();
  readonly #conditions: Conditions;
  readonly #leftMs: () => number;

  /** @param leftMs until its deadline; 0: it is given up. */
  constructor(conditions: Conditions, leftMs: () => number) {
    this.#conditions = conditions;
    this.#leftMs = leftMs;
  }

  /** It is made in the place of one version only. */
  get isConditional(): boolean {
    return this.#conditions.expected !== undefined;
  }

  get leftMs(): number {
    return this.#leftMs();
  }

  get isLost(): boolean {
    return this.leftMs <= 0;
  }

  /** @param dueIn when its version is due, in milliseconds; `Infinity`: never by itself. */
  request(dueIn: number): PersonalChange {
    const { expected, sparesPinned, pins } = this.#conditions;
    const holdFor = Math.min(dueIn, LONGEST_LEASE_MS);
    return { id: this.#id, expected, sparesPinned, pinFor: pins ? holdFor : undefined, holdFor };
  }
}
