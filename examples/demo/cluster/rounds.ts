/** One lease, and what its holder did. */
interface Lease {
  readonly token: number;
  /** The number of the instance. */
  readonly holder: number;
  loads: number;
}

/** From when data is due for a load until all have it: one lease, or several where a holder was lost. */
interface Round {
  readonly number: number;
  readonly leases: Lease[];
  isPublished: boolean;
}

/** Which lease belongs to which round, and how often each was loaded: by what the instances tell. */
export class Rounds {
  readonly #rounds: Round[] = [];
  /** Loads that began without a lease. */
  #loadsWithout = 0;

  acquired(token: number, holder: number): void {
    let last = this.#rounds.at(-1);
    if (last === undefined || last.isPublished) {
      last = { number: this.#rounds.length + 1, leases: [], isPublished: false };
      this.#rounds.push(last);
    }
    last.leases.push({ token, holder, loads: 0 });
  }

  loading(token: number | undefined): void {
    const lease = this.#leaseOf(token);
    if (lease === undefined) this.#loadsWithout += 1;
    else lease.loads += 1;
  }

  published(token: number | undefined): void {
    const round = this.#roundOf(token);
    if (round !== undefined) round.isPublished = true;
  }

  /** The number of the round that a token, or a version, is of. */
  numberOf(token: number | undefined): number | undefined {
    return this.#roundOf(token)?.number;
  }

  /** It was loaded under that lease, not put into place by hand. */
  wasLoaded(token: number | undefined): boolean {
    return (this.#leaseOf(token)?.loads ?? 0) > 0;
  }

  /** The number of the instance that a lease was given to. */
  holderOf(token: number): number | undefined {
    return this.#leaseOf(token)?.holder;
  }

  /** How many were loaded and published. A rollback is published without a load. */
  get completed(): number {
    return this.#loaded.filter(({ isPublished }) => isPublished).length;
  }

  get loads(): number {
    return this.#rounds.reduce((sum, round) => sum + loadsOf(round), this.#loadsWithout);
  }

  /** The rounds in which anything was loaded. */
  get loaded(): number {
    return this.#loaded.length;
  }

  get loadsWithout(): number {
    return this.#loadsWithout;
  }

  /** The most loads under one lease. */
  get mostPerLease(): number {
    return Math.max(0, ...this.#rounds.flatMap(({ leases }) => leases.map(({ loads }) => loads)));
  }

  /** In words: how often was loaded. */
  get shortText(): string {
    return `${this.loads} loads in ${this.#loaded.length} rounds`;
  }

  /** In words: how often was loaded, and in which rounds more than once. */
  get text(): string {
    const loaded = this.#loaded;
    const more = loaded
      .filter((round) => loadsOf(round) > 1)
      .map((round) => `, ${loadsOf(round)} in round ${round.number}`);
    return `${this.loads} in ${loaded.length} rounds: 1 each${more.join('')}`;
  }

  get #loaded(): readonly Round[] {
    return this.#rounds.filter((round) => loadsOf(round) > 0);
  }

  #roundOf(token: number | undefined): Round | undefined {
    return this.#rounds.findLast(({ leases }) => leases.some((lease) => lease.token === token));
  }

  #leaseOf(token: number | undefined): Lease | undefined {
    return this.#roundOf(token)?.leases.find((lease) => lease.token === token);
  }
}

function loadsOf({ leases }: Round): number {
  return leases.reduce((sum, { loads }) => sum + loads, 0);
}
