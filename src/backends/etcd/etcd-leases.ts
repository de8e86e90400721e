import { systemClock } from '../../time/clock.ts';
import type { EtcdClient } from './etcd-client.ts';

interface Granted {
  readonly id: Promise<string>;
  /** By the monotonic clock: until then it is as long as its step. */
  readonly until: number;
}

/** The longest one that a server grants, in seconds. */
const LONGEST_S = 9_000_000_000;

/** A lease is this much longer than its step, and used for as long as it is. */
const SPARE = 1.25;

/**
 * Leases by which the server deletes keys, for many keys each: one that is granted for half an hour serves all keys that are
 * to be kept for less, for the first minutes. So a put needs no command of its own for its lease, and a key is kept for one
 * to 1.8 times as long as asked for.
 */
export class EtcdLeases {
  readonly #client: EtcdClient;
  readonly #granted: Map<number, Granted> = new Map();

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  /** The lease for a key that is kept for at least that long. @returns '0' for one that is kept for ever. */
  async for(ms: number): Promise<string> {
    if (ms === Infinity) return '0';
    // Each step is 1.4 times as long as the one before.
    const step = Math.ceil(2 * Math.log2(Math.max(1, ms / 1000)));
    const seconds = Math.min(2 ** (step / 2), LONGEST_S / SPARE);
    const now = systemClock.monotonic();
    const known = this.#granted.get(step);
    if (known !== undefined && now < known.until) return known.id;
    const granted = {
      id: this.#grant(Math.ceil(seconds * SPARE)),
      until: now + (SPARE - 1) * seconds * 1000,
    };
    this.#granted.set(step, granted);
    granted.id.catch(() => {
      if (this.#granted.get(step) === granted) this.#granted.delete(step);
    });
    return granted.id;
  }

  async #grant(seconds: number): Promise<string> {
    const { ID: id } = await this.#client.send<{ ID: string }>('lease/grant', { TTL: String(seconds) });
    return id;
  }

  /** The server does not know them any more: it has lost its data. */
  forget(): void {
    this.#granted.clear();
  }
}
