import type { PostgresClient } from 'tickless/postgres';
import type { LockRecord } from '../../../src/cluster/lock-contract.ts';
import { lockOf } from '../../../test/support/parts.ts';
import { backendIn, connect } from './database.ts';
import { LEASE_MS, NAME } from './settings.ts';

const LOOK_EVERY_MS = 250;

/** Looks at the lock as an operator would. */
export class Watch {
  /** The record of the postal codes, as it was at the last look. */
  record: LockRecord | undefined;
  /** How many commands that took. */
  commands = 0;
  readonly #timer: NodeJS.Timeout;
  #look: Promise<void> = Promise.resolve();

  constructor(databaseUrl: string) {
    const pool = connect(databaseUrl);
    const counting: PostgresClient = {
      query: (command) => {
        this.commands += 1;
        return pool.query(command);
      },
    };
    const lock = lockOf(backendIn(counting, LEASE_MS)); // it lists, and holds none
    const look = async (): Promise<void> => {
      [this.record] = await lock.list({ prefix: NAME });
    };
    this.#timer = setInterval(() => {
      this.#look = this.#look.then(look).catch(() => {}); // the next look will do
    }, LOOK_EVERY_MS);
  }

  /** Resolves when the last look is over. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#look;
  }
}
