import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { type GroupOptions, RefreshGroup } from '../../../src/index.ts';
import { prometheusMetrics } from '../../../src/prometheus/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';

const MINUTE = 60_000;

interface Scraped {
  readonly group: RefreshGroup;
  readonly clock: FakeClock;
  readonly register: Registry;
  readonly stop: () => void;
  /** The samples of a scrape over HTTP whose lines begin with that. */
  readonly scrape: (beginning?: string) => Promise<string[]>;
}

const atEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atEnd.splice(0)) end();
});

async function scraped(options: GroupOptions = {}): Promise<Scraped> {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  const group = new RefreshGroup({ clock, logger: false, retry: false, ...options });
  const register = new Registry();
  const stop = prometheusMetrics(group, { register });
  const server = createServer((_request, response) => {
    void register.metrics().then((text) => {
      response.setHeader('Content-Type', register.contentType).end(text);
    });
  }).listen(0);
  await once(server, 'listening');
  atEnd.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://localhost:${(server.address() as AddressInfo).port}/metrics`;
  const scrape = async (beginning = ''): Promise<string[]> => {
    const lines = (await (await fetch(url)).text()).split('\n');
    return lines.filter((line) => line.startsWith(beginning) && line !== '' && !line.startsWith('#'));
  };
  return { group, clock, register, stop, scrape };
}

describe('prometheusMetrics', () => {
  it('shows the ages, counters and load times of members, also of those made later', async () => {
    const { group, clock, scrape } = await scraped({ maxStaleness: 60 * MINUTE });
    const load = async (): Promise<number> => {
      await new Promise<void>((go) => clock.setTimeout(go, 200));
      return 1;
    };
    const rates = group.value({ name: 'rates', load });
    const first = rates.get();
    await clock.advance(200);
    await first;
    await rates.get();
    await clock.advance(5 * MINUTE);
    const of = 'name="rates"';
    expect(await scrape('tickless_value')).toEqual([
      `tickless_value_age_seconds{${of}} 300`,
      `tickless_value_max_staleness_seconds{${of}} 3600`,
      `tickless_value_stale{${of}} 0`,
    ]);
    expect(await scrape('tickless_reads_total')).toEqual([`tickless_reads_total{${of}} 2`]);
    const loads = [
      'loaded',
      'kept',
      'adopted',
      'deferred',
      'failed',
      'refused',
      'timed-out',
      'cancelled',
      'late',
    ];
    expect(await scrape('tickless_loads_total')).toEqual(
      loads.map((outcome, at) => `tickless_loads_total{${of},outcome="${outcome}"} ${at === 0 ? 1 : 0}`),
    );
    expect(await scrape('tickless_load_duration_seconds')).toEqual(
      expect.arrayContaining([
        `tickless_load_duration_seconds_bucket{le="0.1",${of},outcome="loaded"} 0`,
        `tickless_load_duration_seconds_bucket{le="0.25",${of},outcome="loaded"} 1`,
        `tickless_load_duration_seconds_sum{${of},outcome="loaded"} 0.2`,
      ]),
    );
    await group
      .executor(() => Promise.reject(new Error('down')), { name: 'task' })
      .execute()
      .catch(() => {});
    expect(await scrape('tickless_consecutive_failures')).toEqual([
      `tickless_consecutive_failures{${of}} 0`,
      'tickless_consecutive_failures{name="task"} 1',
    ]);
  });

  it('never has a key as label, and starts no load', async () => {
    const { group, clock, scrape } = await scraped();
    const loads: string[] = [];
    const cities = group.cache({
      name: 'cities',
      load: async (key: string) => {
        loads.push(key);
        if (key === 'secret-b') throw new Error('down');
        return key;
      },
    });
    await cities.getMany(['secret-a', 'secret-b'], { onError: () => {} });
    await clock.advance(30 * MINUTE);
    const lines = await scrape();
    expect(lines).toContain('tickless_cache_keys{name="cities"} 1');
    expect(lines).toContain('tickless_cache_failing_keys{name="cities"} 1');
    expect(lines.filter((line) => line.includes('secret'))).toEqual([]);
    expect(loads).toEqual(['secret-a', 'secret-b']);
  });

  it('keeps a hostile name within its label', async () => {
    const { group, scrape } = await scraped();
    const hostile = group.value({ name: 'v"} 1\nfake_metric{a="b\\', load: () => 1 });
    await hostile.get();
    const lines = await scrape();
    expect(lines.some((line) => line.includes('fake_metric'))).toBe(true);
    expect(lines.filter((line) => !/^(?:# (?:HELP|TYPE) )?tickless_|^$/.test(line))).toEqual([]);
  });

  it('shows backends that do not answer', async () => {
    const cluster = new ManualCluster();
    const link = cluster.link();
    const { lock, store } = link;
    const { group, scrape } = await scraped({ clock: cluster.clock, backend: { lock, store } });
    link.break('refused', 'acquire');
    const rates = group.value({ name: 'rates', load: async () => 1 });
    const cities = group.cache({ name: 'cities', backend: 'group', load: async (key: string) => key });
    const reads = [rates.get(), cities.get('a')];
    await cluster.clock.flush();
    await Promise.all(reads);
    await cluster.clock.advance(2 * MINUTE);
    await rates.get();
    expect(await scrape('tickless_backend_down')).toEqual([
      'tickless_backend_down{name="rates",backend="lock"} 1',
      'tickless_backend_down{name="rates",backend="store"} 0',
      'tickless_backend_down{name="cities",backend="lock"} 1',
      'tickless_backend_down{name="cities",backend="store"} 0',
    ]);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const { group, register, stop, scrape } = await scraped();
    group.value({ name: 'rates', load: () => 1 });
    expect(await scrape()).not.toEqual([]);
    stop();
    expect(await scrape()).toEqual([]);
    prometheusMetrics([group, new RefreshGroup()], { register });
    expect(await scrape('tickless_reads_total')).toEqual(['tickless_reads_total{name="rates"} 0']);
  });

  it('takes no property of a prototype as its registry', () => {
    const foreign = new Registry();
    Object.assign(Object.prototype, { register: foreign });
    try {
      const stop = prometheusMetrics(new RefreshGroup(), {});
      expect(foreign.getSingleMetric('tickless_reads_total')).toBeUndefined();
      stop();
    } finally {
      Reflect.deleteProperty(Object.prototype, 'register');
    }
  });

  it('refuses what is not a group', () => {
    expect(() => prometheusMetrics({} as RefreshGroup)).toThrow(expect.objectContaining({ code: 'OPTION' }));
    expect(() => prometheusMetrics([], { registry: 1 } as never)).toThrow('did you mean register?');
    for (const options of [{ register: null }, { register: {} }])
      expect(() => prometheusMetrics([], options as never)).toThrow(
        expect.objectContaining({ code: 'OPTION' }),
      );
  });
});

it.each(['dashboard.json', 'alerts.yaml'])(
  'the dashboard and the alert rules name only metrics that there are: %s',
  async (file) => {
    const { register } = await scraped();
    const text = await readFile(new URL(`../../../examples/grafana/${file}`, import.meta.url), 'utf8');
    const named = new Set(text.match(/\btickless_[a-z_]+/g)?.map((name) => name.replace(/_bucket$/, '')));
    const registered = register.getMetricsAsArray().map(({ name }) => name);
    expect(named.size).toBeGreaterThan(5);
    expect([...named].filter((name) => !registered.includes(name))).toEqual([]);
  },
);
