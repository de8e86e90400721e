import type { Means } from './strategy.ts';

/** What is held for XFetch. */
export interface XFetchEntry {
  readonly value: string;
  /** How long the load took. */
  readonly deltaMs: number;
  /** Epoch milliseconds: all workers go by one clock, that of the machine. */
  readonly expiry: number;
}

const BETA = 1;

/**
 * Whether a read is to load it before it expires: the likelier, the nearer that is and the longer a load takes.
 *
 * @see Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache Stampede Prevention, VLDB 2015.
 */
export function isEarly({ deltaMs, expiry }: XFetchEntry): boolean {
  return Date.now() - deltaMs * BETA * Math.log(Math.random()) >= expiry;
}

export async function readEntry({ redis, key }: Means): Promise<XFetchEntry | undefined> {
  const text = await redis.get(key);
  return text === null ? undefined : JSON.parse(text);
}

export async function loadEntry({ redis, key, periodMs, load }: Means): Promise<XFetchEntry> {
  const begunAt = performance.now();
  const value = await load();
  const deltaMs = performance.now() - begunAt;
  const entry = { value, deltaMs, expiry: Date.now() + periodMs };
  await redis.set(key, JSON.stringify(entry), 'PX', periodMs);
  return entry;
}
