import type { Means } from './strategy.ts';

/** The stored entry of XFetch. */
export interface XFetchEntry {
  readonly value: string;
  /** How long the load took. */
  readonly deltaMs: number;
  /** Epoch milliseconds: all workers go by one clock, that of the machine. */
  readonly expiry: number;
}

const BETA = 1;

/**
 * Whether a read loads the value before it expires: the likelier, the nearer the expiry and the longer a load.
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
