import {
  type IoredisClient,
  type IoredisCluster,
  type RedisConnection,
  type Send,
  textOf,
} from './client.ts';

/** Many locks may share a client; each more listener counts. */
const connections: WeakMap<IoredisClient, IoredisConnection> = new WeakMap();

/** Sends through a client or a cluster of ioredis. */
export class IoredisConnection implements RedisConnection {
  readonly #client: IoredisClient | IoredisCluster;
  /** It has ended, and will not connect again by itself. */
  #hasEnded = false;
  #connecting: Promise<void> | undefined;
  #goOn: () => void = () => {};

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
    ...[command, script, key, args, signal]: Parameters<RedisConnection['script']>
  ): Promise<unknown> {
    await this.#ready(signal);
    return this.#client.call(command, script, '1', key, ...args); // puts its prefix before the key
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
   * ioredis keeps what it can't send yet, and has no way to take it back: a given-up acquire would be sent after the
   * outage, and nobody would use its lease. So a command waits here until there is a connection, or none to come.
   */
  async #ready(signal: AbortSignal): Promise<void> {
    const { status, options } = this.#client;
    const isToWait = status === 'wait' || options?.enableOfflineQueue !== false;
    if (status === 'ready' || status === 'end' || !isToWait) return;
    // A cluster goes from `end` back to `close`, and then keeps commands for ever.
    if (status === 'close' && this.#hasEnded) throw new Error('The client is closed');
    if (status === 'wait') this.#client.connect().catch(() => {}); // lazyConnect; its events tell
    this.#connecting ??= new Promise((resolve) => {
      this.#goOn = resolve;
    });
    await this.#connecting;
    signal.throwIfAborted();
  }

  #changed(hasEnded: boolean): void {
    this.#hasEnded = hasEnded;
    this.#connecting = undefined;
    this.#goOn();
  }
}
