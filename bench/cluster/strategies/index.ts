import { lock } from './lock.ts';
import { plain } from './plain.ts';
import type { Strategy } from './strategy.ts';
import { tickless } from './tickless.ts';
import { xfetch } from './xfetch.ts';
import { xfetchWithLock } from './xfetch-with-lock.ts';

/**
 * Those that the harness of the Internet Archive compares (Jim Nelson, "Preventing cache stampede with Redis & XFetch",
 * RedisConf 2017), and tickless. Here, who gets a lock looks once more before it loads, which spares the source a few.
 */
export const strategies: readonly Strategy[] = [plain, lock, xfetch, xfetchWithLock, tickless];
