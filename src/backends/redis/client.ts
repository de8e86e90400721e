/** The used part of an ioredis client, 5 or newer: `new Redis()`. */
export interface IoredisClient {
  readonly status: string;
  readonly options: { readonly keyPrefix?: string | Uint8Array | undefined };
  connect(): Promise<unknown>;
  call(command: string, ...args: string[]): Promise<unknown>;
  on(event: 'ready' | 'end', listener: () => void): unknown;
}

/** The used part of an ioredis cluster: `new Cluster()`. */
export interface IoredisCluster extends IoredisClient {
  nodes(role: 'master'): IoredisClient[];
}

/** The used part of a node-redis client (the package `redis`), 4 or newer: `createClient()`, `createClientPool()`. */
export interface NodeRedisClient {
  /** Only in version 6 and later. */
  readonly _keyPrefix?: string | Uint8Array | undefined;
  sendCommand(args: string[], options?: object): Promise<unknown>;
}

/** The used part of a node-redis cluster: `createCluster()`. */
export interface NodeRedisCluster {
  readonly _keyPrefix?: string | Uint8Array | undefined;
  readonly isOpen: boolean;
  readonly masters: readonly unknown[];
  /** Is given one of `masters`, whose type depends on the version. */
  nodeClient(node: never): NodeRedisClient | Promise<NodeRedisClient>;
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: string[],
    options?: object,
  ): Promise<unknown>;
}

/** The used part of a sentinel client of node-redis, 5 or newer: `createSentinel()`. */
export interface NodeRedisSentinel {
  readonly _keyPrefix?: string | Uint8Array | undefined;
  readonly isOpen: boolean;
  getSentinelNode(): unknown;
  /** Sends to the primary unless it is read-only. */
  sendCommand(isReadonly: boolean | undefined, args: string[], options?: object): Promise<unknown>;
}

/**
 * The client of a Redis lock or store. You keep ownership: connect it, listen to its `error` events and close it as its
 * documentation says. Other code may use the same client, but not for subscriptions.
 */
export type RedisClient =
  | IoredisClient
  | IoredisCluster
  | NodeRedisClient
  | NodeRedisCluster
  | NodeRedisSentinel;

/** Sends a command to one server. */
export type Send = (...command: string[]) => Promise<unknown>;

/**
 * The common operations of all clients. Aborting the signal removes a command from the client's queue, if the client
 * supports that and has not sent it yet.
 */
export interface RedisConnection {
  /** Prefix that the client puts before each key; patterns have to include it. */
  readonly keyPrefix: string;
  /** Sends a script, as text or by its digest, to the server of the first key. */
  script(
    command: 'eval' | 'evalsha',
    script: string,
    keys: readonly string[],
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<unknown>;
  /** One sender per primary server: several in a cluster. */
  masters(signal: AbortSignal): Promise<Send[]>;
}

/** A key prefix as text. */
export function textOf(prefix: string | Uint8Array | undefined): string {
  return typeof prefix === 'object' ? new TextDecoder().decode(prefix) : (prefix ?? '');
}
