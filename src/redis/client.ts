/** What is used of a client of ioredis, 5 or newer: `new Redis()`. */
export interface IoredisClient {
  readonly status: string;
  readonly options: {
    readonly keyPrefix?: string | Uint8Array | undefined;
    readonly enableOfflineQueue?: boolean | undefined;
  };
  connect(): Promise<unknown>;
  call(command: string, ...args: string[]): Promise<unknown>;
  on(event: 'ready' | 'end', listener: () => void): unknown;
}

/** The same of a cluster of ioredis: `new Cluster()`. */
export interface IoredisCluster extends IoredisClient {
  nodes(role: 'master'): IoredisClient[];
}

/** What is used of a client of node-redis (the package `redis`), 4 or newer: `createClient()`, `createClientPool()`. */
export interface NodeRedisClient {
  /** Of the client; from 6 on. */
  readonly _keyPrefix?: string | Uint8Array | undefined;
  sendCommand(args: string[], options?: object): Promise<unknown>;
}

/** The same of a cluster of node-redis: `createCluster()`. */
export interface NodeRedisCluster {
  readonly _keyPrefix?: string | Uint8Array | undefined;
  readonly isOpen: boolean;
  readonly masters: readonly unknown[];
  // biome-ignore lint/suspicious/noExplicitAny: a node is for nodeClient alone, and each version has its own
  nodeClient(node: any): NodeRedisClient | Promise<NodeRedisClient>;
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: string[],
    options?: object,
  ): Promise<unknown>;
}

/**
 * The client that a Redis lock or store works with. It stays yours: connect it, listen to its `error` events and close
 * it as its documentation says. Commands of other uses may share it, except subscriptions.
 */
export type RedisClient = IoredisClient | IoredisCluster | NodeRedisClient | NodeRedisCluster;

/** Sends a command to one server. */
export type Send = (...command: string[]) => Promise<unknown>;

/**
 * What the clients have in common. A command whose signal is aborted while the client still has it in a queue is not
 * sent any more, where the client allows that.
 */
export interface RedisConnection {
  /** What the client puts before each key; as part of a pattern it has to be written out. */
  readonly keyPrefix: string;
  /** Sends a script, whole or by its digest, to the server that holds the key. */
  script(
    command: 'eval' | 'evalsha',
    script: string,
    key: string,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<unknown>;
  /** One for each server that holds keys of its own: more than one in a cluster. */
  masters(signal: AbortSignal): Promise<Send[]>;
}

/** A prefix as text. */
export function textOf(prefix: string | Uint8Array | undefined): string {
  return typeof prefix === 'object' ? new TextDecoder().decode(prefix) : (prefix ?? '');
}
