// How the documents make backends, with the types of each driver. Compiled against the built package by several
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
import { dynamodbBackend } from 'tickless/dynamodb';
import { etcdBackend } from 'tickless/etcd';
import { fileBackend } from 'tickless/file';
import { memoryBackend } from 'tickless/memory';
import { mongodbBackend } from 'tickless/mongodb';
import { mysqlBackend } from 'tickless/mysql';
import { postgresBackend } from 'tickless/postgres';
import { redisBackend } from 'tickless/redis';
import { objectSource, querySource } from 'tickless/sources';
import { sqliteBackend } from 'tickless/sqlite';

const collections = new MongoClient('mongodb://localhost').db('app');
const nodes = [{ host: 'localhost', port: 7000 }];

export const backends = [
  memoryBackend(),
  fileBackend({ directory: '/var/lib/app/locks' }),
  sqliteBackend({ client: new Database('app.db', { timeout: 50 }) }),
  sqliteBackend({ client: new DatabaseSync('app.db') }),
  redisBackend({ client: new Redis() }),
  redisBackend({ client: new Redis('redis://localhost', { enableOfflineQueue: false }) }),
  redisBackend({ client: new Cluster(nodes) }),
  redisBackend({ client: createClient() }),
  redisBackend({ client: createClient({ url: 'redis://localhost', disableOfflineQueue: true }) }),
  redisBackend({ client: createClientPool() }),
  redisBackend({ client: createCluster({ rootNodes: [{ url: 'redis://localhost:7000' }] }) }),
  redisBackend({
    client: createSentinel({ name: 'main', sentinelRootNodes: [{ host: 'localhost', port: 26379 }] }),
  }),
  postgresBackend({ client: new Pool({ connectionTimeoutMillis: 1000, query_timeout: 3000 }) }),
  postgresBackend({ client: new Client() }),
  postgresBackend({ client: postgres({ max: 2 }) }),
  mysqlBackend({ client: createPool('mysql://localhost/app') }),
  mongodbBackend({ collection: collections.collection('locks') }),
  dynamodbBackend({ client: new DynamoDB({ region: 'eu-west-1' }) }),
  etcdBackend({ endpoints: 'http://localhost:2379', fetch }),
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
/** @throws {TicklessError} `NOT_LOADED` */
export const nameOf = (code: string): string | undefined => countries.current.get(code);

export const signalled = [
  redisBackend({ client: new Redis(), signals: new Redis() }),
  redisBackend({ client: new Cluster(nodes), signals: new Cluster(nodes) }),
  redisBackend({ client: createClient(), signals: createClient() }),
  redisBackend({ client: createClientPool(), signals: createClient({ url: 'redis://localhost' }) }),
  redisBackend({
    client: createCluster({ rootNodes: [{ url: 'redis://localhost:7000' }] }),
    signals: createCluster({ rootNodes: [{ url: 'redis://localhost:7000' }] }),
  }),
  postgresBackend({ client: new Pool(), signals: new Client() }),
  postgresBackend({ client: new Pool(), signals: async () => new Client() }),
];

export const more = [
  mysqlBackend({ client: createPool({ uri: 'mysql://localhost/app', connectTimeout: 1000 }) }),
  dynamodbBackend({ client: new DynamoDB() }),
  etcdBackend({ endpoints: ['http://localhost:2379'], user: { name: 'app', password: 'secret' } }),
];

const [backend] = backends;
const [lock] = more;
const group = new RefreshGroup({ backend });
export const members = [
  new RefreshingValue({ name: 'rates', load: async () => new Map([['USD', 1.08]]), lock, group }),
];
