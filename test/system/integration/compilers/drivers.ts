// How the documents make locks and stores, with the types of each driver. Compiled against the built package by several
// versions of TypeScript (scripts/check-compilers.mjs); never run.

import { DatabaseSync } from 'node:sqlite';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { S3 } from '@aws-sdk/client-s3';
import Database from 'better-sqlite3';
import { Cluster, Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { createPool as createCallbackPool } from 'mysql2';
import { createConnection, createPool } from 'mysql2/promise';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import { RefreshGroup, RefreshingValue } from 'tickless';
import { dynamodbLock, dynamodbStore } from 'tickless/dynamodb';
import { etcdLock, etcdStore } from 'tickless/etcd';
import { fileLock, fileStore } from 'tickless/file';
import { memoryLock, memoryStore } from 'tickless/memory';
import { mongodbLock, mongodbStore } from 'tickless/mongodb';
import { mysqlLock, mysqlStore } from 'tickless/mysql';
import { postgresHints, postgresLock, postgresStore } from 'tickless/postgres';
import { redisHints, redisLock, redisStore } from 'tickless/redis';
import { objectSource, querySource } from 'tickless/sources';
import { sqliteLock, sqliteStore } from 'tickless/sqlite';

const collections = new MongoClient('mongodb://localhost').db('app');
const nodes = [{ host: 'localhost', port: 7000 }];

export const locks = [
  memoryLock(),
  fileLock({ directory: '/var/lib/app/locks' }),
  sqliteLock({ client: new Database('app.db', { timeout: 50 }) }),
  sqliteLock({ client: new DatabaseSync('app.db') }),
  redisLock({ client: new Redis() }),
  redisLock({ client: new Redis('redis://localhost', { enableOfflineQueue: false }) }),
  redisLock({ client: new Cluster(nodes) }),
  redisLock({ client: createClient() }),
  redisLock({ client: createClient({ url: 'redis://localhost', disableOfflineQueue: true }) }),
  redisLock({ client: createClientPool() }),
  redisLock({ client: createCluster({ rootNodes: [{ url: 'redis://localhost:7000' }] }) }),
  redisLock({
    client: createSentinel({ name: 'main', sentinelRootNodes: [{ host: 'localhost', port: 26379 }] }),
  }),
  postgresLock({ client: new Pool({ connectionTimeoutMillis: 1000, query_timeout: 3000 }) }),
  postgresLock({ client: new Client() }),
  postgresLock({ client: postgres({ max: 2 }) }),
  mysqlLock({ client: createPool('mysql://localhost/app') }),
  mongodbLock({ collection: collections.collection('locks') }),
  dynamodbLock({ client: new DynamoDB({ region: 'eu-west-1' }) }),
  etcdLock({ endpoints: 'http://localhost:2379', fetch }),
];

const sql = 'SELECT code, name FROM countries';

export const sources = [
  objectSource({ client: new S3({ region: 'eu-west-1' }), bucket: 'reference-data', key: 'prices.json' }),
  querySource({ client: new Pool({ max: 2 }), sql }),
  querySource({ client: new Client(), sql }),
  querySource({ client: postgres({ max: 2 }), sql }),
  querySource({ client: createPool('mysql://localhost/app'), sql }),
  querySource({ client: createCallbackPool('mysql://localhost/app'), sql }),
  querySource({ client: await createConnection('mysql://localhost/app'), sql }),
  querySource({ client: new Database('app.db'), sql }),
  querySource({ client: new DatabaseSync('app.db'), sql }),
];

export const countries = new RefreshingValue({
  name: 'countries',
  load: querySource({
    client: new Pool(),
    sql,
    map: (rows: { code: string; name: string }[]) => new Map(rows.map(({ code, name }) => [code, name])),
  }),
});
/** @throws {NotLoadedError} */
export const nameOf = (code: string): string | undefined => countries.current.get(code);

export const hints = [
  redisHints({ client: new Redis(), subscriber: new Redis() }),
  redisHints({ client: new Cluster(nodes), subscriber: new Cluster(nodes) }),
  redisHints({ client: createClient(), subscriber: createClient() }),
  redisHints({ client: createClientPool(), subscriber: createClient({ url: 'redis://localhost' }) }),
  redisHints({
    client: createCluster({ rootNodes: [{ url: 'redis://localhost:7000' }] }),
    subscriber: createCluster({ rootNodes: [{ url: 'redis://localhost:7000' }] }),
  }),
  postgresHints({ client: new Client() }),
  postgresHints({ client: async () => new Client() }),
];

export const stores = [
  memoryStore(),
  fileStore({ directory: '/var/lib/app/snapshots' }),
  sqliteStore({ client: new Database('app.db', { timeout: 50 }) }),
  sqliteStore({ client: new DatabaseSync('app.db') }),
  redisStore({ client: new Redis() }),
  redisStore({ client: new Cluster(nodes) }),
  redisStore({ client: createClient() }),
  redisStore({ client: createClientPool() }),
  redisStore({ client: createCluster({ rootNodes: [{ url: 'redis://localhost:7000' }] }) }),
  redisStore({
    client: createSentinel({ name: 'main', sentinelRootNodes: [{ host: 'localhost', port: 26379 }] }),
  }),
  postgresStore({ client: new Pool(), hints: hints[0] }),
  postgresStore({ client: new Client() }),
  postgresStore({ client: postgres({ max: 2 }) }),
  mysqlStore({ client: createPool({ uri: 'mysql://localhost/app', connectTimeout: 1000 }) }),
  mongodbStore({ collection: collections.collection('snapshots') }),
  dynamodbStore({ client: new DynamoDB() }),
  etcdStore({ endpoints: ['http://localhost:2379'], user: { name: 'app', password: 'secret' } }),
];

const [lock] = locks;
const [store] = stores;
const group = new RefreshGroup({ lock, store });
export const members = [
  new RefreshingValue({ name: 'rates', load: async () => new Map([['USD', 1.08]]), lock, store, group }),
];
