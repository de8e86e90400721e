import { setTimeout as sleep } from 'node:timers/promises';
import { RefreshingValue } from '../../src/index.ts';
import type { Connected } from '../../test/system/integration/support/backends.ts';

/** The shared settings of the instances of a cluster. */
export interface ClusterSettings {
  /** The prefix of the table or keys of the backend. */
  readonly space: string;
  readonly name: string;
  readonly periodMs: number;
  readonly loadMs: number;
  /** Called when a load begins. */
  onLoad(by: Instance): void;
}

/** The work of one instance since the last report. */
export interface Work {
  readonly loads: number;
  /** Commands to its backend. */
  readonly steps: number;
}

const LONGEST_PAUSE_MS = 50;

/**
 * One instance of a cluster: its value, a backend of its own, and a reader that reads every few milliseconds.
 */
export class Instance {
  readonly value: RefreshingValue<string>;
  readonly #reading: AbortController = new AbortController();
  readonly #warmUp: () => Promise<void>;
  #loads = 0;
  /** Those that were reported. */
  #steps = 0;
  #read: Promise<void> | undefined;

  constructor(client: Connected, number: number, { space, name, periodMs, loadMs, onLoad }: ClusterSettings) {
    const backend = client.open(space);
    const { lock, store } = backend;
    this.#warmUp = async () => {
      const own = `warm-up ${number}`;
      const answer = await lock.acquire({ name: own });
      if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'abandoned' });
      await store.write(own, 'payload');
    };
    this.value = new RefreshingValue({
      name,
      load: async ({ signal }) => {
        this.#loads += 1;
        onLoad(this);
        await sleep(loadMs, undefined, { signal });
        return `loaded by ${number}`;
      },
      schedule: periodMs,
      backend,
    });
  }

  /**
   * The one-time work of each process: it creates tables, and removes old records after the first release and write.
   */
  async warmUp(): Promise<void> {
    await this.#warmUp();
  }

  /** Reads until {@link close}. Resolves with the first value. */
  async begin(): Promise<void> {
    await this.value.get();
    this.#read = this.#readOn();
  }

  async #readOn(): Promise<void> {
    while (!this.#reading.signal.aborted) {
      await sleep(Math.random() * LONGEST_PAUSE_MS);
      await this.value.get();
    }
  }

  /** Resets the counts. */
  take(): Work {
    const { lockCommands, storeCommands } = this.value.inspect().counts;
    const work = { loads: this.#loads, steps: lockCommands + storeCommands - this.#steps };
    this.#loads = 0;
    this.#steps += work.steps;
    return work;
  }

  async close(): Promise<void> {
    this.#reading.abort();
    await this.#read;
    await this.value.close();
  }
}
