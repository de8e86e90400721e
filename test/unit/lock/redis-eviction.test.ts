import { expect, it } from 'vitest';
import { redisBackend } from '../../../src/backends/redis.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { lockOf } from '../../support/parts.ts';

/** A client of ioredis whose server has no record, does each swap, and answers INFO with those lines. */
function clientOf(memory: string | Error, commands: string[]) {
  return {
    status: 'ready',
    options: {},
    connect: async () => {},
    on: () => {},
    async call(command: string, ...args: string[]): Promise<unknown> {
      commands.push(command);
      if (command === 'info') {
        if (memory instanceof Error) throw memory;
        return memory;
      }
      const now = '1767225600000000';
      return args.includes('look') ? [[now]] : [[now, '1'], [now]]; // the index has a key too
    },
  };
}

const LINE =
  'warn tickless: a: the Redis server evicts keys when its memory is full (maxmemory-policy allkeys-lru): leases and holds may be lost, expected noeviction';

it.each<[string, string | Error, string[]]>([
  ['an evicting policy is reported', 'maxmemory:1048576\r\nmaxmemory_policy:allkeys-lru\r\n', [LINE]],
  ['one without a limit of memory is not', 'maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n', []],
  ['nor is noeviction', 'maxmemory:1048576\r\nmaxmemory_policy:noeviction\r\n', []],
  ['nor is one that the user may not see', new Error('NOPERM'), []],
])('%s, once for all members of a lock', async (_, memory, expected) => {
  const commands: string[] = [];
  const clock = new FakeClock();
  const logger = recordLines();
  const lock = lockOf(redisBackend({ client: clientOf(memory, commands) }));
  for (const name of ['a', 'b']) {
    const value = new RefreshingValue({ name, load: async () => 1, lock, clock, logger });
    await value.get();
    await value.refresh();
    await clock.flush();
  }
  expect(logger.lines).toEqual(expected);
  expect(commands.filter((command) => command === 'info')).toHaveLength(1);
});
