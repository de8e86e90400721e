import { redisBackend } from '../../../src/backends/redis.ts';
import { RefreshingValue } from '../../../src/index.ts';
import type { Strategy } from './strategy.ts';

/** A value in the memory of each worker. One of them loads it in each period, behind the readers. */
export const tickless: Strategy = {
  name: 'tickless',
  open({ redis: client, key, periodMs, load }) {
    const value = new RefreshingValue({
      name: key,
      load,
      schedule: periodMs,
      backend: redisBackend({ client }),
    });
    return {
      async read() {
        const isMiss = value.peek() === undefined;
        return { value: await value.get(), isMiss };
      },
      close: () => value.close(),
    };
  },
};
