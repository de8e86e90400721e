import type { Backend, Connected } from '../../test/system/integration/support/backends.ts';
import type { RealServer } from '../../test/system/integration/support/servers.ts';
import { type ClusterSettings, Instance, type Work } from './instance.ts';

/** The number of instances per client: a server cannot serve a pool for each of them. */
const INSTANCES_PER_CLIENT = 10;

/** The instances of a cluster, all in this process. */
export class Instances {
  readonly #clients: readonly Connected[];
  readonly #all: readonly Instance[];
  #onLoad: () => void = () => {};

  private constructor(
    clients: readonly Connected[],
    count: number,
    settings: Omit<ClusterSettings, 'onLoad'>,
  ) {
    const onLoad = (): void => this.#onLoad();
    this.#clients = clients;
    this.#all = Array.from({ length: count }, (_, number) => {
      const client = clients[number % clients.length] as Connected;
      return new Instance(client, number, { ...settings, onLoad });
    });
  }

  static async open(
    { url }: RealServer,
    { connect }: Backend,
    count: number,
    settings: Omit<ClusterSettings, 'onLoad'>,
  ): Promise<Instances> {
    const clients = Array.from({ length: Math.ceil(count / INSTANCES_PER_CLIENT) }, () => connect(url));
    return new Instances(await Promise.all(clients), count, settings);
  }

  /** Resolves when each instance has a value and goes on reading. */
  async begin(): Promise<void> {
    await this.#all[0]?.warmUp(); // the others use its tables
    await Promise.all(this.#all.map((instance) => instance.warmUp()));
    await Promise.all(this.#all.map((instance) => instance.begin()));
  }

  /** Resolves when a load begins. */
  nextLoad(): Promise<void> {
    return new Promise((resolve) => {
      this.#onLoad = resolve;
    });
  }

  /** The work of each since the last report. */
  take(): Work[] {
    return this.#all.map((instance) => instance.take());
  }

  /** Reads `times` times, one instance after the other. */
  async read(times: number): Promise<void> {
    for (let i = 0; i < times; i++) await this.#all[i % this.#all.length]?.value.get();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((instance) => instance.close()));
    for (const client of this.#clients) client.destroy();
  }
}
