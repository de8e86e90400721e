import type { IoredisClient, NodeRedisClient, RedisClient } from './client.ts';

/** Both packages have `sendCommand`, with different arguments; only ioredis has `call`. */
export function isIoredis(client: RedisClient): client is IoredisClient {
  return hasMethod(client, 'call') && hasMethod(client, 'on') && 'status' in client;
}

/** Excludes the sentinel of node-redis, whose `sendCommand` takes other arguments. */
export function isNodeRedis(client: RedisClient): client is NodeRedisClient {
  return (
    hasMethod(client, 'sendCommand') && !hasMethod(client, 'getSentinelNode') && !hasMethod(client, 'call')
  );
}

function hasMethod(client: unknown, name: string): boolean {
  return typeof client === 'object' && client !== null && typeof Reflect.get(client, name) === 'function';
}
