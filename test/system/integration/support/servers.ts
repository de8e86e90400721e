// Servers of our own for tests: real ones, begun in a second or two, and gone with the process that began them.
//
//   const redis = await startRedis();
//   try { … connect to redis.url … } finally { await redis.close(); }

export { startDynalite } from './servers/dynalite.ts';
export { type EtcdCluster, startEtcd, startEtcdCluster } from './servers/etcd.ts';
export { startMariadb } from './servers/mariadb.ts';
export { type PgbouncerSettings, startPgbouncer } from './servers/pgbouncer.ts';
export { startPostgres } from './servers/postgres.ts';
export { startRedis } from './servers/redis.ts';
export { type RedisCluster, startRedisCluster } from './servers/redis-cluster.ts';
export { BUCKET, startS3rver } from './servers/s3rver.ts';
export { SENTINEL_NAME, startSentinel } from './servers/sentinel.ts';
export type { RealServer, ServerKind } from './servers/server.ts';
