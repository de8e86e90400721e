import type { LockProvider, SnapshotStore } from '../index.ts';

/** A lock and a store that all instances share. */
export interface JournalBackend {
  readonly lock: LockProvider;
  readonly store: SnapshotStore;
}

/** How long a lease lasts where the instance is killed while it writes. */
const LEASE_MS = 5000;

/** How often a lease that another instance holds is asked for, with pauses of up to {@link LONGEST_PAUSE_MS}. */
const TRIES = 20;
const LONGEST_PAUSE_MS = 250;

const FORMAT = 'tickless-journal/1\n';

/** A change of a list. */
type Change = (list: readonly unknown[]) => readonly unknown[];

/** A list in a store, newest first, that instances change in turn: each reads it, and writes it with its token. */
export class Journal {
  readonly #backend: JournalBackend;
  readonly #name: string;
  /** This instance makes one change after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(backend: JournalBackend, name: string) {
    this.#backend = backend;
    this.#name = name;
  }

  /** The entries, newest first. Rejects with `StoreUnavailableError`. */
  async read(): Promise<readonly unknown[]> {
    const { payload = '' } = (await this.#backend.store.read(this.#name)) ?? {};
    if (!payload.startsWith(FORMAT)) return [];
    try {
      const list: unknown = JSON.parse(payload.slice(FORMAT.length));
      return Array.isArray(list) ? list : [];
    } catch {
      return []; // edited by hand
    }
  }

  /** @returns the list as it is now. Rejects when the lock or the store can't be used. */
  change(change: Change): Promise<readonly unknown[]> {
    const changed = this.#last.then(() => this.#change(change));
    this.#last = changed.catch(() => {});
    return changed;
  }

  async #change(change: Change): Promise<readonly unknown[]> {
    const { lock, store } = this.#backend;
    const lease = await this.#acquire();
    try {
      const list = change(await this.read());
      const answer = await store.write(this.#name, FORMAT + JSON.stringify(list), lease.token);
      if (answer.kind === 'refused') throw new Error('another instance has written meanwhile');
      return list;
    } finally {
      await lock.release(lease, { as: 'abandoned' }).catch(() => false);
    }
  }

  async #acquire(): Promise<{ readonly name: string; readonly requestId: string; readonly token: number }> {
    const owner = crypto.randomUUID();
    const request = {
      name: this.#name,
      owner,
      requestId: owner,
      leaseFor: LEASE_MS,
      host: 'console',
      force: true,
    };
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await this.#backend.lock.acquire(request);
      if (answer.kind === 'acquired') return answer.lease;
      const pauseMs = Math.min(answer.retryAfter, LONGEST_PAUSE_MS * (0.5 + Math.random() / 2));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    throw new Error('other instances kept the journal busy');
  }
}
