import {
  type NodeRedisClient,
  type NodeRedisCluster,
  type RedisConnection,
  type Send,
  textOf,
} from './client.ts';

/** Sends through a client, a pool or a cluster of node-redis. */
export class NodeRedisConnection implements RedisConnection {
  readonly #client: NodeRedisClient | NodeRedisCluster;

  constructor(client: NodeRedisClient | NodeRedisCluster) {
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
    if (!isCluster(client)) return client.sendCommand(sent, optionsFor(signal));
    if (!client.isOpen) throw new Error('The client is closed'); // its own error does not name the cause
    return client.sendCommand(keys[0], false, sent, optionsFor(signal));
  }

  async masters(signal: AbortSignal): Promise<Send[]> {
    const client = this.#client;
    const servers = isCluster(client)
      ? await Promise.all(client.masters.map((node) => client.nodeClient(node as never)))
      : [client];
    return servers.map(
      (server) =>
        (...command) =>
          server.sendCommand(command, optionsFor(signal)),
    );
  }
}

function isCluster(client: NodeRedisClient | NodeRedisCluster): client is NodeRedisCluster {
  return 'nodeClient' in client;
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
      signal.addEventListener(type, take, { once: true });
    },
    removeEventListener(): void {},
  };
}
