import { Agent, get } from 'node:http';
import {
  absent,
  eventTypes,
  type KeyedLoadReturn,
  keep,
  lockedTask,
  type PeriodicExecutor,
  RefreshGroup,
  type RefreshingCache,
  type RefreshingValue,
} from '../../../../src/index.ts';
import type { Census } from '../../soak/census.ts';
import { type Engine, openShared, type Shared } from '../faults/clients.ts';

export interface Payload {
  readonly id: number;
  readonly words: readonly number[];
}

/** What is counted. */
export interface Tally {
  reads: number;
  rejected: number;
  loads: number;
  'failed loads': number;
  events: number;
  closes: number;
}

/** What all instances share. */
export interface Surroundings {
  readonly census: Census;
  readonly tally: Tally;
  readonly originPort: number;
}

const LEASE_MS = 2000;
const STEP_TIMEOUT_MS = 500;
const TIMEOUT_MS = 2000;

/** An instance of a service, with a client of its own to its engine and connections of its own to the origin. */
export class Instance {
  readonly group: RefreshGroup;
  readonly values: readonly RefreshingValue<Payload>[];
  readonly caches: readonly RefreshingCache<number, Payload>[];
  readonly executor: PeriodicExecutor;
  readonly task: () => Promise<unknown>;
  readonly #surroundings: Surroundings;
  readonly #agent: Agent = new Agent({ keepAlive: true, maxSockets: 10 });
  readonly #shared: Shared;

  constructor(surroundings: Surroundings, engine: Engine, url: string) {
    const { census, tally } = surroundings;
    const shared = openShared(engine, url, { leaseFor: LEASE_MS, stepTimeout: STEP_TIMEOUT_MS });
    const { lock, store } = shared;
    const group = new RefreshGroup({
      logger: false,
      timeout: TIMEOUT_MS,
      coolDown: { initial: 200, max: 2000 },
    });
    const load = ({ signal }: { readonly signal: AbortSignal }): Promise<Payload> =>
      this.#fetch('/value', signal) as Promise<Payload>;
    const loadKey = (
      key: number,
      { signal }: { readonly signal: AbortSignal },
    ): Promise<KeyedLoadReturn<Payload>> => this.#fetch(`/keys/${key}`, signal);
    this.#surroundings = surroundings;
    this.#shared = shared;
    this.group = group;
    this.values = [
      group.value({ name: 'rates', load, schedule: 100, backend: { lock, store } }),
      group.value({ name: 'prices', load, schedule: 500, backend: { lock, store }, maxStaleness: 4000 }),
      group.value({ name: 'flags', load, schedule: 250, retry: { retries: 1, minTimeout: 50 } }),
    ];
    this.caches = [
      group.cache({ name: 'cities', load: loadKey, schedule: 2000, max: 50, absentFor: 1000 }),
      group.cache({ name: 'districts', load: loadKey, schedule: 2000, max: 10, backend: { lock, store } }),
    ];
    const work = ({ signal }: { readonly signal: AbortSignal }): Promise<unknown> =>
      this.#fetch('/task', signal);
    this.executor = group.executor(work, { name: 'clean-up', schedule: 500, lock });
    this.task = lockedTask(work, { name: 'nightly', lock, lockAtMostFor: LEASE_MS, lockAtLeastFor: 500 });
    for (const member of [...this.values, ...this.caches, this.executor]) {
      census.add('members', member);
      for (const type of eventTypes)
        member.on(type, () => {
          tally.events += 1;
        });
    }
    census.add('clients', lock);
  }

  /** Closes all that it has, its client last. */
  async close(): Promise<void> {
    this.#surroundings.tally.closes += 1;
    await this.group.close({ timeout: TIMEOUT_MS });
    await this.#shared.close();
    this.#agent.destroy();
  }

  #fetch(path: string, signal: AbortSignal): Promise<KeyedLoadReturn<Payload>> {
    const { census, tally, originPort: port } = this.#surroundings;
    tally.loads += 1;
    census.add('signals of loads', signal);
    return new Promise<KeyedLoadReturn<Payload>>((resolve, reject) => {
      const request = get({ host: '127.0.0.1', port, path, agent: this.#agent, signal }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 404) resolve(absent());
          else if (response.statusCode === 304) resolve(keep());
          else if (response.statusCode !== 200)
            reject(new Error(`the origin answers ${response.statusCode}`));
          else resolve(census.add('values', JSON.parse(body) as Payload));
        });
      });
      request.on('error', reject);
    }).catch((error: unknown) => {
      tally['failed loads'] += 1;
      throw error;
    });
  }
}
