import { type RedisLockOptions, redisLock } from '../lock/redis.ts';
import { ownOptions } from '../option-checks.ts';
import { type RedisStoreOptions, redisStore } from '../store/redis.ts';
import { type Backend, optionsOfLock, optionsOfStore } from './backend.ts';

export * from '../lock/redis.ts';
export * from '../store/redis.ts';
export type { Backend } from './backend.ts';

/** The options of {@link redisBackend}: those of the lock and of the store. */
export interface RedisBackendOptions extends RedisLockOptions, RedisStoreOptions {}

/**
 * A lock and a store in Redis or Valkey, for the option `backend`: {@link redisLock} and {@link redisStore} with the same options.
 *
 * ```ts no-run
 * import { Redis } from 'ioredis';
 * import { RefreshingValue } from 'tickless';
 * import { redisBackend } from 'tickless/redis';
 *
 * const backend = redisBackend({ client: new Redis() });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function redisBackend(given: RedisBackendOptions): Backend {
  const options = ownOptions(given);
  return { lock: redisLock(optionsOfLock(options)), store: redisStore(optionsOfStore(options)) };
}
