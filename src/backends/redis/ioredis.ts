import {
  type IoredisClient,
  type IoredisCluster,
  type RedisConnection,
  type Send,
  textOf,
} from './client.ts';

/** One connection per client: several locks and stores share its listeners. */
const connections: WeakMap<IoredisClient, IoredisConnection> = new WeakMap();

/** Sends through a client or a cluster of ioredis. */
export class IoredisConnection implements RedisConnection {
  readonly #client: IoredisClient | IoredisCluster;
  /** The client has ended, and will not reconnect by itself. */
  #hasEnded = false;
  #connecting: Promise<void> | undefined;
  #resolve: () => void = () => {};

  private constructor(client: IoredisClient | IoredisCluster) {
    this.#client = client;
    client.on('ready', () => this.#changed(false));
    client.on('end', () => this.#changed(true));
  }

  static of(client: IoredisClient | IoredisCluster): IoredisConnection {
    const connection = connections.get(client) ?? new IoredisConnection(client);
    connections.set(client, connection);
    return connection;
  }

  get keyPrefix(): string {
    return textOf(this.#client.options?.keyPrefix);
  }

  async script(
    ...[command, script, keys, args, signal]: Parameters<RedisConnection['script']>
  ): Promise<unknown> {
    await this.#ready(signal);
    return this.#client.call(command, script, String(keys.length), ...keys, ...args); // ioredis adds its prefix to the keys
  }

  async masters(signal: AbortSignal): Promise<Send[]> {
    await this.#ready(signal);
    const servers = 'nodes' in this.#client ? this.#client.nodes('master') : [this.#client];
    return servers.map(
      (server) =>
        (command, ...args) =>
          server.call(command, ...args),
    );
  }

  /**
   * Waits until the client is connected, or has ended: one that connects is slow, not dead. ioredis queues commands while it is
   * disconnected, and can't remove them: it would send an abandoned acquire after the outage, and leave an unused lease. With
   * `enableOfflineQueue: false` it would refuse them, also those of a process that has just begun.
   */
  async #ready(signal: AbortSignal): Promise<void> {
    const { status } = this.#client;
    if (status === 'ready' || status === 'end') return;
    // A cluster goes from `end` back to `close`, and then queues commands for ever.
    if (status === 'close' && this.#hasEnded) throw new Error('The client is closed');
    if (status === 'wait') this.#client.connect().catch(() => {}); // lazyConnect; the events report the result
    this.#connecting ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
    await this.#connecting;
    signal.throwIfAborted();
  }

  #changed(hasEnded: boolean): void {
    this.#hasEnded = hasEnded;
    this.#connecting = undefined;
    this.#resolve();
  }
}
