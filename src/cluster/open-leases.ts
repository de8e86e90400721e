import { cutOff, type LeaseLeft } from '../data/close-report.ts';
import type { HeldLease } from './held-lease.ts';

/** At most this number is kept before those that have expired without a release are looked for. */
const FEW = 100;

/** The leases of a member that are not known to be over. */
export class OpenLeases {
  /** With the keys that they are for. */
  readonly #leases: Map<HeldLease, unknown> = new Map();
  #most = FEW;

  add(lease: HeldLease, key: unknown): void {
    this.#leases.set(lease, key);
    if (this.#leases.size <= this.#most) return;
    for (const one of this.#leases.keys()) if (one.isLost) this.#leases.delete(one);
    this.#most = 2 * this.#leases.size + FEW;
  }

  delete(lease: HeldLease): void {
    this.#leases.delete(lease);
  }

  /** Those that may still be held at the backend. */
  of(name: string): readonly LeaseLeft[] {
    return Array.from(this.#leases)
      .filter(([lease]) => lease.mayBeHeld)
      .map(([{ id }, key]) => ({ ...cutOff(name, key), token: id.token }));
  }
}
