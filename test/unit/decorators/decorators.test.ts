import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { locked, lockedTaskOf, refreshing, refreshingOf } from '../../../src/decorators/index.ts';
import { isTicklessError, RefreshGroup } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Deferred } from '../../../src/time/deferred.ts';
import { ofOption } from '../../support/option-errors.ts';
import { lockOf } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';
import { settledHeap } from '../../system/soak/settled-heap.ts';

type Services = typeof import('./fixtures/services.ts');

const source = fileURLToPath(new URL('fixtures/services.ts', import.meta.url));
const folder = fileURLToPath(new URL('../../../.tmp/decorators/', import.meta.url));

async function compiled(kind: string): Promise<Services> {
  const experimentalDecorators = kind === 'experimental';
  const { code } = await transform(readFileSync(source, 'utf8'), {
    loader: 'ts',
    target: 'es2022',
    keepNames: true,
    tsconfigRaw: { compilerOptions: { experimentalDecorators } },
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}${kind}.mjs`, code);
  return (await import(`${folder}${kind}.mjs`)) as Services;
}

describe.each(['standard', 'experimental'])('%s decorators', async (kind) => {
  const { Cities, group, Jobs, Rates, Reports, Villages } = await compiled(kind);
  const clock = new FakeClock();

  it('a method has a value for each instance and each of its arguments', async () => {
    const [one, other] = [new Cities('one', clock), new Cities('other', clock)];
    const reads = [one.city('1012'), one.city('1012'), one.city('1012', 'fr'), other.city('1012')];
    expect(await Promise.all(reads)).toEqual([
      '1012 of one in nl',
      '1012 of one in nl',
      '1012 of one in fr',
      '1012 of other in nl',
    ]);
    expect([one.calls, other.calls]).toEqual([['1012 nl', '1012 fr'], ['1012 nl']]);
    const city = refreshingOf(one, 'city');
    city.invalidate('1012');
    await city.refresh('1012');
    expect([one.calls.slice(2), city.inspect('1012')?.name]).toEqual([['1012 nl'], 'Cities.city']);
    await expect(city('')).rejects.toThrow('does not have this key');
    expect(await city.getIfPresent('')).toBeUndefined();
    expect(await new Cities('x', clock).sum(1, 2, 3)).toBe(6);
    expect([Cities.prototype.city.name, Cities.prototype.city.length]).toEqual(['city', 1]);
  });

  it('a getter has a value for each instance', async () => {
    const cities = new Cities('one', clock);
    expect([await cities.countries, await cities.countries, cities.calls]).toEqual([
      ['NL', 'one'],
      ['NL', 'one'],
      ['countries'],
    ]);
    expect(refreshingOf(cities, 'countries').inspect().name).toBe('countries of one');
    expect(cities.countries).toBe(cities.countries);
  });

  it('static methods, subclasses and super have their own', async () => {
    expect(await Cities.version()).toBe('version of Cities');
    expect(refreshingOf(Cities, 'version').current).toBe('version of Cities');
    const village = new Villages('one', clock);
    expect([await village.city('9251'), village.calls]).toEqual(['village 9251 of one in fy', ['9251 fy']]);
    expect(() => refreshingOf(village, 'city')).toThrow('city is not decorated with @refreshing');
    const reports = new Reports(lockOf(memoryBackend()), 'north');
    expect(() => refreshingOf(reports, 'send')).toThrow('send is not decorated with @refreshing');
    expect(() => lockedTaskOf(new Cities('x', clock), 'city')).toThrow('city is not decorated with @locked');
  });

  it('instances are collected with what was made for them', async () => {
    setFlagsFromString('--expose-gc');
    globalThis.gc ??= runInNewContext('gc') as typeof gc;
    const lock = lockOf(memoryBackend());
    const used = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const [cities, reports] = [new Cities(`${i}`, clock), new Reports(lock, `${i}`)];
        await Promise.all([cities.city('1012'), cities.countries, reports.send('a')]);
        return [new WeakRef(cities), new WeakRef(reports)] as const;
      }),
    );
    await settledHeap();
    expect(used.flat().filter((one) => one.deref() !== undefined)).toHaveLength(0);
  });

  it('a locked method runs on one instance at a time, under a name of its arguments and instance', async () => {
    const lock = lockOf(memoryBackend());
    const [here, there] = [new Reports(lock, 'north'), new Reports(lock, 'north')];
    const wait = new Deferred<void>();
    here.wait = wait.promise;
    const sent = here.send('a');
    await expect.poll(() => here.runs.length).toBe(1);
    expect([await there.send('a'), await there.send('b')]).toEqual([undefined, 'sent to b']);
    wait.resolve();
    expect([await sent, await there.send('a')]).toEqual(['sent to a', undefined]);
    expect([here.runs, there.runs]).toEqual([['a'], ['b']]);
    expect((await lock.list()).map(({ name }) => name).toSorted()).toEqual([
      'report of a in north',
      'report of b in north',
    ]);
    const task = lockedTaskOf(there, 'send');
    expect(await task('a')).toMatchObject({ kind: 'already-done' });
    await task.close();
    await expect(there.send('c')).rejects.toThrow('is closed');
    await expect(here.fail()).rejects.toThrow('no paper');
  });

  it('a required member is there when its instance is: the group waits for it', async () => {
    const rates = new Rates();
    await Promise.resolve(); // one of them depends on the instance
    expect(rates.calls).toEqual([]);
    expect(await group.ready()).toMatchObject({ ok: true });
    expect(rates.calls.toSorted()).toEqual(['all', 'bases']);
    expect(rates).toBeInstanceOf(Rates);
    expect(
      group
        .members()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['Rates.all', 'Rates.version', 'bases']);
    expect([Rates.name, refreshingOf(rates, 'all').current, await Rates.version()]).toEqual([
      'Rates',
      ['USD'],
      'version of Rates',
    ]);
    await group.close();
  });

  it('a locked method without a name has that of class and method', async () => {
    const lock = lockOf(memoryBackend());
    await new Jobs(lock).send();
    expect((await lock.list()).map(({ name }) => name)).toEqual(['Jobs.send']);
  });
});

describe('decorators', () => {
  it('belong on methods and getters', () => {
    const decorate = refreshing() as (...args: unknown[]) => unknown;
    expect(() => decorate(undefined, { kind: 'field', name: 'rates' })).toThrow('but rates is a field');
    expect(() => decorate({}, 'rates', undefined)).toThrow(
      'must decorate a method or a getter, but rates is a field',
    );
    const lock = locked({ name: 'x', lock: lockOf(memoryBackend()) }) as (...args: unknown[]) => unknown;
    expect(() => lock(() => 1, { kind: 'getter', name: 'rates' })).toThrow('@locked must decorate a method');
  });

  it('report what breaks a rule with the first use, which may depend on the instance', async () => {
    const lock = lockOf(memoryBackend());
    class Shared {
      static readonly name = ''; // as of a class in an expression
      @refreshing({ lock })
      async rates(): Promise<number> {
        return 1;
      }
      @locked({ lock })
      async report(): Promise<void> {}
    }
    const shared = new Shared();
    expect(() => shared.rates()).toThrow('class.rates: name must be given with a backend');
    expect(isTicklessError(await shared.report().catch((error: unknown) => error), 'OPTION')).toBe(true);
    const { rates } = shared;
    expect(() => rates.call(undefined as never)).toThrow('rates was called without its instance');
  });

  it('make members of a group, which has them until it is closed', async () => {
    const group = new RefreshGroup({ logger: false });
    class Grouped {
      @refreshing({ name: 'rates', group, required: true })
      async rates(): Promise<number> {
        return 1;
      }
    }
    refreshingOf(new Grouped(), 'rates');
    expect(await group.ready()).toMatchObject({ ok: true });
    await group.close();
  });

  it('refuse options that are a promise, and its rejection is no unhandled one', async () => {
    const unhandled = unhandledRejections();
    const options = (): never => Promise.reject(new Error('nobody awaits this')) as never;
    for (const decorate of [refreshing(options), locked(options)] as ((
      ...args: unknown[]
    ) => () => unknown)[]) {
      const decorated = decorate(async () => 1, { kind: 'method', name: 'm' });
      const use = Promise.resolve().then(() => decorated.call({}));
      expect(await rejectionOf(use)).toMatchObject(ofOption('options'));
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(unhandled).toEqual([]);
  });

  it('keep the metadata of the method, also where that of a scheduler stands below', () => {
    const metadata = new Map<object, Map<unknown, unknown>>();
    const reflect = Reflect as unknown as Record<string, unknown>;
    reflect.getOwnMetadataKeys = (target: object) => [...(metadata.get(target)?.keys() ?? [])];
    reflect.getOwnMetadata = (key: unknown, target: object) => metadata.get(target)?.get(key);
    reflect.defineMetadata = (key: unknown, value: unknown, target: object) =>
      metadata.set(target, new Map([...(metadata.get(target) ?? []), [key, value]]));
    try {
      const send = async (): Promise<void> => {};
      metadata.set(send, new Map([['CRON', '0 5 * * *']]));
      const decorate = locked({ name: 'x', lock: lockOf(memoryBackend()) }) as (...args: unknown[]) => object;
      const replaced = decorate(send, { kind: 'method', name: 'send' });
      expect(metadata.get(replaced)).toEqual(new Map([['CRON', '0 5 * * *']]));
    } finally {
      for (const name of ['getOwnMetadataKeys', 'getOwnMetadata', 'defineMetadata']) delete reflect[name];
    }
  });
});
