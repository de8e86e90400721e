import type { Redis } from '../../../test/system/integration/support/redis-client.ts';

/** What a worker has. All workers share the server and the key. */
export interface Means {
  /** Its own. */
  readonly redis: Redis;
  readonly key: string;
  /** How long a value is good for. */
  readonly periodMs: number;
  /** How long a load takes. */
  readonly loadMs: number;
  load(): Promise<string>;
}

/** What a read has brought. */
export interface Answer {
  readonly value: string;
  /** There was no value when it was asked for. */
  readonly isMiss: boolean;
}

/** One worker's way to the value. */
export interface Reader {
  read(): Promise<Answer>;
  /** The client is left to who has opened it. */
  close(): Promise<void>;
}

/** A way of sharing a value that is expensive to load. */
export interface Strategy {
  readonly name: string;
  /** Opens it for one worker. */
  open(means: Means): Reader;
}

/** While a worker waits for another's load, it looks again after that part of a load. */
export const PART_OF_LOAD = 1 / 10;

/** A strategy that holds nothing of its own. */
export function stateless(name: string, read: (means: Means) => Promise<Answer>): Strategy {
  return { name, open: (means) => ({ read: () => read(means), close: async () => {} }) };
}
