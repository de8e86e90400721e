import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';
import { postgresBackend } from '../../../../src/backends/postgres.ts';
import { redisBackend } from '../../../../src/backends/redis.ts';
import type { Backend } from '../../../../src/index.ts';

/** The clients that signals are sent with. */
export const signalledKinds = ['ioredis', 'node-redis', 'pg'] as const;
export type SignalledKind = (typeof signalledKinds)[number];

/** What separates a service from others on the server, and how fast it learns of changes. */
export interface SignalledOptions {
  readonly url: string;
  readonly space: string;
  readonly propagateWithin: number;
  /** `client`: of PostgreSQL one that is connected, not a function that connects one. @default true */
  readonly hasSignals?: boolean | 'client';
  readonly leaseFor?: number;
}

/** A backend with signals, with clients of its own. */
export interface Signalled {
  /** Options of its members. */
  readonly shared: { readonly backend: Backend; readonly propagateWithin: number };
  /** Closes all but the connection that listens. */
  closeClient(): Promise<unknown>;
  close(): Promise<void>;
}

// A client that can't be reached tells so by events, which its user listens to.
const ignore = (): void => {};

export async function openSignalled(kind: SignalledKind, options: SignalledOptions): Promise<Signalled> {
  const { url, space, propagateWithin, hasSignals = true, leaseFor = 5000 } = options;
  const timeout = 2000;
  if (kind === 'pg') {
    const client = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 1000 });
    client.on('error', ignore);
    const listeners: pg.Client[] = [];
    const connect = async (): Promise<pg.Client> => {
      const listener = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
      listener.on('error', ignore);
      listeners.push(listener);
      await listener.connect();
      return listener;
    };
    const signals = hasSignals === 'client' ? await connect() : connect;
    return {
      shared: {
        backend: postgresBackend({
          ...{ client, table: space, leaseFor, timeout },
          ...(hasSignals && { signals }),
        }),
        propagateWithin,
      },
      closeClient: () => client.end(),
      async close() {
        await Promise.all([client, ...listeners].map((one) => one.end().catch(ignore)));
      },
    };
  }
  if (kind === 'ioredis') {
    const client = new Redis(url, {
      keyPrefix: 'app:',
      retryStrategy: () => 50,
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    });
    const subscriber = client.duplicate();
    for (const one of [client, subscriber]) one.on('error', ignore);
    const signals = hasSignals ? subscriber : undefined;
    return {
      shared: {
        backend: redisBackend({ client, prefix: `${space}:`, leaseFor, timeout, signals }),
        propagateWithin,
      },
      closeClient: async () => client.disconnect(),
      async close() {
        for (const one of [client, subscriber]) one.disconnect();
      },
    };
  }
  const client = createClient({ url, socket: { reconnectStrategy: 50 } });
  const subscriber = client.duplicate();
  for (const one of [client, subscriber]) {
    one.on('error', ignore);
    await one.connect();
  }
  const backend = redisBackend({
    ...{ client, prefix: `${space}:`, leaseFor, timeout },
    signals: hasSignals ? subscriber : undefined,
  });
  return {
    shared: { backend, propagateWithin },
    closeClient: async () => client.destroy(),
    async close() {
      for (const one of [client, subscriber]) if (one.isOpen) one.destroy();
    },
  };
}

/** Reads until that value is served. Rejects after that many milliseconds. */
export async function readUntil(read: () => unknown, wanted: unknown, withinMs: number): Promise<void> {
  for (const endAt = performance.now() + withinMs; read() !== wanted; await sleep(5)) {
    if (performance.now() > endAt) throw new Error(`${String(read())} is served, not ${String(wanted)}`);
  }
}

/** Cuts the connections that listen. */
export async function cut(kind: SignalledKind, url: string, space: string): Promise<void> {
  if (kind === 'pg') {
    const client = new pg.Client(url);
    client.on('error', () => {});
    await client.connect();
    const cutting = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE $1';
    await client.query(cutting, [`LISTEN "${space}%`]);
    await client.end();
    return;
  }
  const client = new Redis(url, { reconnectOnError: ({ message }) => message.startsWith('READONLY') });
  await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  client.disconnect();
}
