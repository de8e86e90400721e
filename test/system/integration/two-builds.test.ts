import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import * as postgresNow from '../../../src/backends/postgres.ts';
import * as redisNow from '../../../src/backends/redis.ts';
import * as now from '../../../src/index.ts';
import { onEnded } from '../../support/events.ts';
import { storeOf } from '../../support/parts.ts';

// A rolling upgrade: for a while instances of the build before and of this one share a backend. Formats may change by then only
// in a way that both can live with. See scripts/keep-build.mjs.

/** A build of the library. */
interface Build {
  readonly tickless: Pick<
    typeof now,
    'RefreshingCache' | 'RefreshingValue' | 'keep' | 'loaded' | 'lockedTask'
  >;
  readonly redis: Pick<typeof redisNow, 'redisBackend'>;
  readonly postgres: Pick<typeof postgresNow, 'postgresBackend'>;
}

const KEPT = new URL('./fixtures/build-before.tgz', import.meta.url).pathname;
const WITHIN = 200;
/** Far beyond the time that it takes on a busy machine. */
const SOON_MS = 10_000;
const folders: string[] = [];
const clients: (() => unknown)[] = [];
let before: Build;

beforeAll(async () => {
  mkdirSync('.tmp', { recursive: true });
  const folder = mkdtempSync(join('.tmp', 'build-before-')); // from there it finds the dependencies
  folders.push(folder);
  execFileSync('tar', ['-xzf', KEPT, '-C', folder]);
  const load = (file: string): Promise<unknown> =>
    import(pathToFileURL(join(folder, 'package/dist', file)).href);
  const [tickless, redis, postgres] = await Promise.all(
    ['index.js', 'backends/redis.js', 'backends/postgres.js'].map(load),
  );
  before = { tickless, redis, postgres } as unknown as Build;
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  for (const end of clients.splice(0).reverse()) await end();
});

const present: Build = { tickless: now, redis: redisNow, postgres: postgresNow };
const builds = { before: () => before, present: () => present };
type Engine = 'redis' | 'postgres';

let spaces = 0;
const newSpace = (): string => `two_builds_${process.pid}_${++spaces}`;

function backendOf({ redis, postgres }: Build, engine: Engine, space: string): redisNow.Backend {
  const { url } = inject(engine);
  const options = { keepVersions: 5, leaseFor: 5000, namespace: space } as const;
  if (engine === 'redis') {
    const client = new Redis(url);
    client.on('error', () => {});
    clients.push(() => client.disconnect());
    return redis.redisBackend({ client, ...options });
  }
  const client = new pg.Pool({ connectionString: url });
  client.on('error', () => {});
  clients.push(() => client.end());
  return postgres.postgresBackend({ client, ...options });
}

/** One instance of a service, made of a build. */
class Instance {
  loads = 0;
  readonly backend: redisNow.Backend;
  readonly value: now.RefreshingValue<string>;
  readonly cache: now.RefreshingCache<string, string>;

  constructor(name: string, build: Build, engine: Engine, space: string, schedule: now.DurationLike) {
    const { RefreshingCache, RefreshingValue, loaded } = build.tickless;
    this.backend = backendOf(build, engine, space);
    const common = { schedule, propagateWithin: WITHIN, logger: false, backend: this.backend } as const;
    const load = (): string => `${name} ${++this.loads}`;
    this.value = new RefreshingValue({ ...common, name: 'v', load });
    const keyed = (tag: string): unknown => loaded(load(), { tags: [tag] });
    this.cache = new RefreshingCache({ ...common, name: 'c', load: keyed as (tag: string) => string });
    clients.push(() => Promise.all([this.value.close(), this.cache.close()]));
  }
}

/** Reads both until a condition holds. */
async function until(instances: readonly Instance[], holds: () => boolean | Promise<boolean>): Promise<void> {
  const endAt = performance.now() + SOON_MS;
  while (!(await holds()) && performance.now() < endAt) {
    await Promise.allSettled(instances.flatMap(({ value, cache }) => [value.get(), cache.get('k')]));
    await sleep(10);
  }
  expect(await holds()).toBe(true);
}

describe.each(['redis', 'postgres'] as const)('a build beside the one before it, on %s', (engine) => {
  describe.each([
    ['before', 'present'],
    ['present', 'before'],
  ] as const)('the first instance is of the build %s, the second of the build %s', (one, other) => {
    const pair = [
      ['a', one],
      ['b', other],
    ] as const;

    function make(schedule: now.DurationLike = { hours: 1 }): { readonly a: Instance; readonly b: Instance } {
      const space = newSpace();
      const [a, b] = pair.map(
        ([name, build]) => new Instance(name, builds[build](), engine, space, schedule),
      ) as [Instance, Instance];
      return { a, b };
    }

    it('takes over what the other has loaded: a value, and keys', async () => {
      const { a, b } = make();
      expect([await a.value.get(), await a.cache.get('k')]).toEqual(['a 1', 'a 2']);
      expect([await b.value.get(), await b.cache.get('k'), b.loads]).toEqual(['a 1', 'a 2', 0]);
      expect(b.value.inspect().lock?.version).toBe(a.value.inspect().lock?.version);
    });

    it('loads once a round together, by turns', async () => {
      const { a, b } = make(300);
      let [adopted, succeeded] = [0, 0];
      for (const instance of [a, b]) {
        onEnded(instance.value, 'adopted', () => {
          adopted += 1;
        });
        onEnded(instance.value, 'loaded', () => {
          succeeded += 1;
        });
      }
      const startedAt = performance.now();
      await until([a, b], () => performance.now() - startedAt > 4000);
      expect(succeeded).toBeGreaterThan(5);
      expect(succeeded).toBeLessThanOrEqual(4000 / 300 + 2);
      expect(adopted).toBeGreaterThan(succeeded / 2);
    }, 20_000);

    it('waits for the load of the other', async () => {
      const space = newSpace();
      const loads: string[] = [];
      const members = pair.map(([name, of]) => {
        const build = builds[of]();
        const load = async (): Promise<string> => {
          loads.push(name);
          await sleep(300);
          return name;
        };
        const backend = backendOf(build, engine, space);
        const value = new build.tickless.RefreshingValue({ name: 'w', load, backend, logger: false });
        clients.push(() => value.close());
        return value;
      });
      const got = await Promise.all(members.map((value) => value.get()));
      expect([new Set(got).size, loads.length]).toEqual([1, 1]);
    });

    it('follows changes of the other: set, drop, invalidated tags, a cleared cache', async () => {
      const { a, b } = make();
      for (const { value, cache } of [a, b]) await Promise.all([value.get(), cache.get('k')]);
      await a.value.set('set');
      await until([b], () => b.value.peek() === 'set');
      await b.value.invalidate({ drop: true });
      await until([a, b], () => a.value.peek() !== 'set' && a.value.peek() === b.value.peek());
      const known = b.cache.peek('k');
      await a.cache.invalidateTag('k');
      await until([a, b], () => b.cache.peek('k') !== known && a.cache.peek('k') === b.cache.peek('k'));
      const second = a.cache.peek('k');
      await b.cache.clear();
      await until([a, b], () => a.cache.peek('k') !== second && a.cache.peek('k') === b.cache.peek('k'));
    }, 60_000);

    it('keeps the version that the other has pinned, and lets go of it', async () => {
      const { a, b } = make();
      await a.value.get();
      await b.value.get(); // else the refresh may wait for the end of that round, and take its result
      await b.value.refresh();
      await until([a, b], () => a.value.peek() === 'b 1');
      const version = await a.value.rollback({ by: 'ann', note: 'wrong' });
      await until([b], () => b.value.peek() === 'a 1');
      expect([b.value.inspect().pinned?.by, b.value.inspect().lock?.version]).toEqual(['ann', version]);
      expect(await b.value.refresh().catch(({ code }) => code)).toBe('PINNED');
      await b.value.unpin();
      await until([a, b], () => a.value.inspect().pinned === undefined);
      const readBoth = async (): Promise<readonly unknown[][]> => {
        const histories = await Promise.all([a.value.history(), b.value.history()]);
        return histories.map((all) => all.map(({ age: _, ...record }) => record));
      };
      let [ofA, ofB] = await readBoth();
      // A load that the end of the pin has started may be published between the two questions.
      await until([a, b], async () => {
        [ofA, ofB] = await readBoth();
        return ofA?.length === ofB?.length;
      });
      expect(ofA?.length).toBeGreaterThanOrEqual(3);
      expect(ofB).toEqual(ofA);
    }, 60_000);

    it('a value that the source has not changed stays fresh in both, and is the same', async () => {
      const space = newSpace();
      let asked = 0;
      const make = (build: Build): now.RefreshingValue<string> => {
        const { keep, RefreshingValue } = build.tickless;
        const load = ({ previous }: now.LoadContext<string>): unknown => {
          asked += 1;
          return previous === undefined ? 'the same' : keep();
        };
        const backend = backendOf(build, engine, space);
        const value = new RefreshingValue<string>({
          ...{ name: 'v', load: load as never, schedule: 200, logger: false, backend },
        });
        clients.push(() => value.close());
        return value;
      };
      const both = [make(builds[one]()), make(builds[other]())];
      const endAt = performance.now() + 3000;
      let oldest = 0;
      while (performance.now() < endAt) {
        expect(await Promise.all(both.map((value) => value.get()))).toEqual(['the same', 'the same']);
        oldest = Math.max(oldest, ...both.map((value) => value.inspect().age ?? 0));
        await sleep(10);
      }
      expect(oldest).toBeLessThan(2000); // ten rounds, on a machine that is busy
      expect(asked).toBeGreaterThan(5);
      expect(asked).toBeLessThan(60); // far less than two a round
    }, 30_000);

    it('sees the other in its fleet, and knows its version', async () => {
      const { a, b } = make();
      await Promise.all([a.value.get(), b.value.get()]);
      await a.value.refresh();
      const isHeld = async (): Promise<boolean> => {
        const { members } = await storeOf(a.backend).fleet();
        return members.find(({ name }) => name === 'v')?.holding === 2;
      };
      await until([a, b], isHeld);
      for (const { backend } of [a, b]) {
        const { instances, members } = await storeOf(backend).fleet();
        expect(instances.length).toBe(2);
        expect(members.find(({ name }) => name === 'v')).toMatchObject({ of: 2, holding: 2, behind: [] });
      }
    }, 30_000);

    it('runs a task once', async () => {
      const space = newSpace();
      const runs: string[] = [];
      const tasks = pair.map(([name, of]) => {
        const build = builds[of]();
        const backend = backendOf(build, engine, space);
        const run = async (): Promise<void> => void runs.push(name);
        return { task: build.tickless.lockedTask(run, { name: 'nightly', backend, lockAtLeastFor: 3000 }) };
      });
      const outcomes = await Promise.all(tasks.map(({ task }) => task()));
      expect([runs.length, outcomes.filter(({ kind }) => kind === 'executed').length]).toEqual([1, 1]);
    });
  });
});
