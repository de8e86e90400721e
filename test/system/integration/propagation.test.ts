import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Followers } from './support/followers.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import type { RealServer } from './support/servers.ts';
import { cut } from './support/signalled.ts';

// How soon six processes serve a value that one of them sets. The times are printed; a busy machine is slow.

const INSTANCES = 6;
const WITHIN = 1000;
/** Far beyond the bound, on a machine with other things to do. */
const GENEROUS_MS = 10_000;

const cases = (['ioredis', 'pg'] as const).flatMap((kind) =>
  [false, true].map((hasSignals) => ({
    ...{ kind, hasSignals, engine: kind === 'pg' ? ('postgres' as const) : ('redis' as const) },
    title: `${kind}, ${hasSignals ? 'with signals' : 'by checks alone'}`,
  })),
);
const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;
const ms = (value: number): string => `${value.toFixed(0)} ms`;

describe.each(cases)('six processes: $title', ({ kind, engine, hasSignals, title }) => {
  if (!ownKinds.includes(engine)) return;
  let followers: Followers;
  let server: RealServer;
  let last = 0;
  beforeAll(async () => {
    server = await startOwn(engine);
    const settings = { propagateWithin: WITHIN, hasSignals, leaseFor: 3000 };
    followers = await Followers.start(INSTANCES, {
      kind,
      url: server.url,
      space: 'propagation',
      ...settings,
    });
    await time(0);
    await sleep(WITHIN); // each has begun to listen
  });
  afterAll(async () => {
    await followers?.children.close();
    await server?.close();
  });

  /** Sets a value on one, and waits until those serve it. @returns how long that took, in milliseconds. */
  async function time(by: number, numbers?: readonly number[]): Promise<number> {
    last += 1;
    const { begunAt } = await followers.setSurely(by, last);
    return (await followers.allServe(last, GENEROUS_MS, numbers)) - begunAt;
  }

  it('all serve what one of them sets within the bound; with signals long before', async () => {
    const times: number[] = [];
    for (let i = 0; i < (hasSignals ? 20 : 10); i++) {
      times.push(await time(i % INSTANCES));
      await sleep((hasSignals ? 200 : WITHIN) * Math.random());
    }
    times.sort((a, b) => a - b);
    const [least = 0, median = 0, most = 0] = [times[0], times[times.length / 2], times.at(-1)];
    console.log(`${title}: least ${ms(least)}, median ${ms(median)}, most ${ms(most)} of ${times.length}`);
    if (hasSignals) expect(median).toBeLessThan(WITHIN / 2);
  });

  it('after kill -9, SIGSTOP, cut connections and a restart of the server they do so again', async () => {
    const told: string[] = [];
    const tell = (what: string, took: number): void => void told.push(`${what} ${ms(took)}`);
    const but = (by: number): number[] => followers.children.numbers.filter((number) => number !== by);

    await followers.children.kill(0);
    tell('one killed: others', await time(1, but(0)));
    await followers.begin(0);
    expect(followers.served[0]?.[0]?.value).toBe(last); // it starts with what was set last

    last += 1; // by one that is killed meanwhile: it is published, or it is not
    void followers.set(2, last);
    await sleep(1);
    await followers.children.kill(2);
    tell('the one that sets killed, with its lease of 3 s: others', await time(3, but(2)));
    await followers.begin(2);

    followers.children.signal(4, 'SIGSTOP');
    for (let i = 0; i < 3; i++) {
      await time(i, but(4));
      await sleep(WITHIN / 2);
    }
    const continuedAt = monotonic();
    followers.children.signal(4, 'SIGCONT');
    tell('one stopped: that one', (await followers.allServe(last, GENEROUS_MS)) - continuedAt);

    await cut(kind, server.url, 'propagation');
    tell('connections cut, signals lost: all', await time(5));

    await server.kill();
    last += 1;
    expect((await followers.set(1, last)).error).toBeDefined();
    await sleep(WITHIN);
    await server.restart();
    const restartedAt = monotonic();
    last += 1;
    const { begunAt, at } = await followers.setSurely(2, last);
    tell('server restarted: set', at - restartedAt);
    tell('and all', (await followers.allServe(last, GENEROUS_MS)) - begunAt);
    tell('then all', await time(3));
    console.log(`${title}: ${told.join('; ')}`);
  }, 120_000);

  it('and no value has gone back on any of them', () => {
    for (const served of followers.served) {
      const values = served.map(({ value }) => value);
      expect(values).toEqual(values.toSorted((a, b) => a - b));
      expect(values.at(-1)).toBe(last);
    }
  });
});
