import { lock } from './lock.ts';
import { plain } from './plain.ts';
import type { Strategy } from './strategy.ts';
import { tickless } from './tickless.ts';
import { xfetch } from './xfetch.ts';
import { xfetchWithLock } from './xfetch-with-lock.ts';

/**
 * The strategies that the harness of the Internet Archive compares (Jim Nelson, "Preventing cache stampede with Redis &
 * XFetch",
 * RedisConf 2017), and tickless. Here, the holder of a lock checks the value again before it loads, which saves a few
 * loads.
 */
export const strategies: readonly Strategy[] = [plain, lock, xfetch, xfetchWithLock, tickless];
