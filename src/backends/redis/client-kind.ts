import type {
  IoredisClient,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from './client.ts';

/** Both packages have `sendCommand`, with different arguments; only ioredis has `call`. */
export function isIoredis(client: RedisClient): client is IoredisClient {
  return hasMethod(client, 'call') && hasMethod(client, 'on') && 'status' in client;
}

/** A client, a pool, a cluster or a sentinel client. */
export function isNodeRedis(
  client: RedisClient,
): client is NodeRedisClient | NodeRedisCluster | NodeRedisSentinel {
  return hasMethod(client, 'sendCommand') && !hasMethod(client, 'call');
}

function hasMethod(client: unknown, name: string): boolean {
  return typeof client === 'object' && client !== null && typeof Reflect.get(client, name) === 'function';
}
