import { parseJson } from '../bounded-json.ts';
import type { Lease, LockProvider } from '../cluster/lock-contract.ts';
import type { Store } from '../cluster/store-contract.ts';

/** A lock and a store that all instances share. */
export interface JournalBackend {
  readonly lock: LockProvider;
  readonly store: Store;
}

/** How long a lease lasts where the instance is killed while it writes. */
const LEASE_MS = 5000;

/** How often a lease that another instance holds is asked for, with pauses of up to {@link LONGEST_PAUSE_MS}: longer than it lasts. */
export const TRIES = 40;
const LONGEST_PAUSE_MS = 250;

const FORMAT = 'tickless-journal/1\n';

/** Why a list can't be changed now. */
export const BUSY = 'other instances kept the journal busy';

/** The right to change a list. */
export type JournalLease = Pick<Lease, 'name' | 'requestId' | 'token'>;

/** A change of a list. */
type Change = (list: readonly unknown[]) => readonly unknown[];

/** A list in a store, newest first, that instances change in turn: each reads it, and writes it with its token. */
export class Journal {
  readonly #backend: JournalBackend;
  readonly #name: string;

  constructor(backend: JournalBackend, name: string) {
    this.#backend = backend;
    this.#name = name;
  }

  /** The entries, newest first. Rejects with `BACKEND_DOWN`. */
  async read(): Promise<readonly unknown[]> {
    const { payload = '' } = (await this.#backend.store.read(this.#name)) ?? {};
    if (!payload.startsWith(FORMAT)) return [];
    try {
      const list: unknown = parseJson(payload.slice(FORMAT.length));
      return Array.isArray(list) ? list : [];
    } catch {
      return []; // edited by hand
    }
  }

  /**
   * Asks for the lease, in one command. Rejects when the lock can't be used.
   *
   * @returns a number: another instance has it, for at least as many milliseconds.
   */
  async ask(): Promise<JournalLease | number> {
    const owner = crypto.randomUUID();
    const answer = await this.#backend.lock.acquire({
      name: this.#name,
      owner,
      requestId: owner,
      leaseFor: LEASE_MS,
      host: 'console',
      force: true,
    });
    return answer.kind === 'acquired' ? answer.lease : answer.retryAfter;
  }

  /**
   * Changes the list under a lease, and gives that back.
   *
   * @returns the list as it is now. Rejects when the store can't be used.
   */
  async write(lease: JournalLease, change: Change): Promise<readonly unknown[]> {
    const { lock, store } = this.#backend;
    try {
      const list = change(await this.read());
      const answer = await store.write(this.#name, FORMAT + JSON.stringify(list), lease.token);
      if (answer.kind === 'refused') throw new Error('another instance has written meanwhile');
      return list;
    } finally {
      await lock.release(lease, { as: 'done', holdFor: 0 }).catch(() => false);
    }
  }
}

/** Before the lease is asked for again. @param heldFor the answer of `ask`. */
export function journalPause(heldFor: number): Promise<void> {
  const pauseMs = Math.min(heldFor, LONGEST_PAUSE_MS * (0.5 + Math.random() / 2));
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, pauseMs);
    (timer as { unref?(): void }).unref?.();
  });
}
