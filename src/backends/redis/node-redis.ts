import { systemClock } from '../../time/clock.ts';
import {
  type NodeRedisClient,
  type NodeRedisCluster,
  type NodeRedisSentinel,
  type RedisConnection,
  type Send,
  textOf,
} from './client.ts';

type Client = NodeRedisClient | NodeRedisCluster | NodeRedisSentinel;

/** Sends through a client, a pool, a cluster or a sentinel client of node-redis. */
export class NodeRedisConnection implements RedisConnection {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  get keyPrefix(): string {
    return textOf(this.#client._keyPrefix);
  }

  async script(
    ...[command, script, names, args, signal]: Parameters<RedisConnection['script']>
  ): Promise<unknown> {
    const client = this.#client;
    const keys = names.map((name) => this.keyPrefix + name); // node-redis adds no prefix to the keys of a custom command
    const sent = [command, script, String(keys.length), ...keys, ...args];
    if (!isCluster(client)) return sendTo(client, sent, signal);
    throwIfClosed(client);
    return whenOnline(client, signal, () => client.sendCommand(keys[0], false, sent, optionsFor(signal)));
  }

  async masters(signal: AbortSignal): Promise<Send[]> {
    const client = this.#client;
    const servers = isCluster(client)
      ? await Promise.all(client.masters.map((node) => client.nodeClient(node as never)))
      : [client];
    return servers.map(
      (server) =>
        (...command) =>
          sendTo(server, command, signal),
    );
  }
}

async function sendTo(
  client: NodeRedisClient | NodeRedisSentinel,
  command: string[],
  signal: AbortSignal,
): Promise<unknown> {
  const options = optionsFor(signal);
  if (!isSentinel(client)) return whenOnline(client, signal, () => client.sendCommand(command, options));
  throwIfClosed(client);
  return whenOnline(client, signal, () => client.sendCommand(false, command, options));
}

/** How often a client that is connecting is looked at, in milliseconds: not all kinds have an event for it. */
const CONNECTING_POLL_MS = 10;

/**
 * Sends a command when the client is connected: one that connects is slow, not dead. With `disableOfflineQueue` it refuses a command
 * without sending it, also one of a process that has just begun. A client that was closed, or is not to connect, is not waited for.
 */
async function whenOnline(
  client: object,
  signal: AbortSignal,
  send: () => Promise<unknown>,
): Promise<unknown> {
  for (;;) {
    const { isOpen, isReady } = client as { readonly isOpen?: boolean; readonly isReady?: boolean };
    const isConnecting = isOpen === true && isReady === false;
    try {
      if (!isConnecting) return await send();
    } catch (error) {
      if (signal.aborted || (error as Error | undefined)?.constructor.name !== 'ClientOfflineError')
        throw error;
    }
    signal.throwIfAborted();
    await new Promise<void>((resolve) => systemClock.setTimeout(resolve, CONNECTING_POLL_MS));
  }
}

/** The error of the client itself does not name the cause. */
function throwIfClosed({ isOpen }: { readonly isOpen: boolean }): void {
  if (!isOpen) throw new Error('The client is closed');
}

function isCluster(client: Client): client is NodeRedisCluster {
  return 'nodeClient' in client;
}

function isSentinel(client: NodeRedisClient | NodeRedisSentinel): client is NodeRedisSentinel {
  return 'getSentinelNode' in client;
}

/** Aborting the signal removes a queued command: `abortSignal` from 5 on, `signal` in 4. Replies are text, as by default. */
function optionsFor(signal: AbortSignal): object {
  return { abortSignal: signal, signal: forVersion4(signal), typeMapping: {} };
}

/** Version 4 keeps its listener after it has sent the command, and throws when the command is not in its queue. */
function forVersion4(signal: AbortSignal): object {
  return {
    aborted: signal.aborted,
    addEventListener(type: 'abort', listener: () => void): void {
      const take = (): void => {
        try {
          listener();
        } catch {
          // sent already
        }
      };
      signal.addEventListener(type, take);
    },
    removeEventListener(): void {},
  };
}
