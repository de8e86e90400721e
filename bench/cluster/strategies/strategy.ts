import type { Redis } from '../../../test/system/integration/support/redis-client.ts';

/** The settings of a worker. All workers share the server and the key. */
export interface Means {
  /** Its own. */
  readonly redis: Redis;
  readonly key: string;
  /** The lifetime of a value. */
  readonly periodMs: number;
  /** How long a load takes. */
  readonly loadMs: number;
  load(): Promise<string>;
}

/** The result of a read. */
export interface Answer {
  readonly value: string;
  /** There was no value at the time of the read. */
  readonly isMiss: boolean;
}

/** The reader of one worker. */
export interface Reader {
  read(): Promise<Answer>;
  /** Does not close the client. */
  close(): Promise<unknown>;
}

/** A way of sharing a value that is expensive to load. */
export interface Strategy {
  readonly name: string;
  /** Opens it for one worker. */
  open(means: Means): Reader;
}

/** While a worker waits for the load of another one, it polls after each such part of a load. */
export const PART_OF_LOAD = 1 / 10;

/** A strategy without state of its own. */
export function stateless(name: string, read: (means: Means) => Promise<Answer>): Strategy {
  return { name, open: (means) => ({ read: () => read(means), close: async () => {} }) };
}
