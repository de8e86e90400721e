import { describe, expect, it } from 'vitest';
import { redisLock } from '../../../src/lock/redis.ts';
import { sqliteLock } from '../../../src/lock/sqlite.ts';

describe('redisLock', () => {
  /** A client of ioredis whose server answers yes to all. */
  function clientOf(commands: string[][]) {
    const call = async (...command: string[]) => {
      commands.push(command);
      return 1;
    };
    return { call, on: () => {}, status: 'ready' };
  }

  it('has its keys under a name of its own, and keeps as much of an error as people read', async () => {
    const commands: string[][] = [];
    const lock = redisLock({ client: clientOf(commands) as never });
    const lease = { name: 'rates', requestId: 'r', token: 5 };
    await lock.release(lease, { as: 'failed', holdFor: 10, error: 'x'.repeat(16_001) });
    expect(commands.map(([command, _, ...args]) => [command, ...args])).toEqual([
      ['evalsha', '1', 'tickless:lock:rates', '604800000', '5', 'r', 'failed', '10', 'x'.repeat(16_000)],
    ]);
  });
});

describe('sqliteLock', () => {
  it('tells who may not make the table where its text is to be had', async () => {
    const prepare = (sql: string) => {
      throw new Error(/^CREATE/.test(sql) ? 'attempt to write a readonly database' : 'no such table: locks');
    };
    await expect(sqliteLock({ client: { prepare } as never }).acquire({ name: 'n' })).rejects.toThrow(
      /\(sqliteLockTable\(\) returns its definition\): attempt to write a readonly database/,
    );
  });
});
