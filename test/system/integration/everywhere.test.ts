import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isTicklessError, loaded, RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { rejectionOf } from '../../support/settle.ts';
import { backends, type Connected } from './support/backends.ts';

const WITHIN = 100;
/** Far beyond the time that it takes on a busy machine. */
const SOON_MS = 10_000;

/** One instance of a service: a value and a cache, whose next loads are an hour away. */
class Instance {
  loads = 0;
  readonly store: ReturnType<Connected['store']>;
  readonly value: RefreshingValue<string>;
  readonly cache: RefreshingCache<string, string>;

  constructor(name: string, connected: Connected, space: string) {
    this.store = connected.store(space, { keepVersions: 5 });
    const common = {
      schedule: { hours: 1 },
      propagateWithin: WITHIN,
      logger: false,
      backend: { lock: connected.lock(space), store: this.store },
    } as const;
    const load = (): string => `${name} ${++this.loads}`;
    this.value = new RefreshingValue({ ...common, name: 'v', load });
    this.cache = new RefreshingCache({
      ...common,
      name: 'c',
      load: (tag: string) => loaded(load(), { tags: [tag] }),
    });
  }

  /** Reads until a condition holds. */
  async until(holds: () => boolean): Promise<void> {
    const endAt = performance.now() + SOON_MS;
    while (!holds() && performance.now() < endAt) {
      await Promise.allSettled([this.value.get(), this.cache.get('k'), this.cache.get('l')]);
      await sleep(10);
    }
    expect(holds()).toBe(true);
  }
}

describe.each(backends)('everywhere, with $name', (backend) => {
  const connections: Connected[] = [];
  const instances: Instance[] = [];
  beforeAll(async () => {
    const space = `everywhere_${backends.indexOf(backend)}_${process.pid}`;
    for (const name of ['a', 'b']) {
      const connected = await backend.connect(inject(backend.engine).url);
      connections.push(connected);
      const instance = new Instance(name, connected, space);
      instances.push(instance);
      await instance.value.get();
      await instance.cache.getMany(['k', 'l']);
    }
  });
  afterAll(async () => {
    await Promise.all(instances.flatMap(({ value, cache }) => [value.close(), cache.close()]));
    await Promise.all(connections.map((connected) => connected.close()));
  });

  it('a value that is set, refreshed, dropped, rolled back and unpinned on one instance is followed by the other', async () => {
    const [a, b] = instances as [Instance, Instance];
    const follows = (): Promise<void> => b.until(() => b.value.peek() === a.value.peek());
    await a.value.set('by hand');
    await follows();
    await a.value.refresh();
    await follows();
    const before = b.loads;
    await a.value.invalidate({ drop: true });
    await b.until(() => b.loads === before + 1); // one of the two loads, and only b is read
    // Counted when it begins: its result comes after the mark.
    await expect.poll(async () => (await a.value.history())[1]?.mark).toBe('dropped');
    const [, , version] = await a.value.history();
    await a.value.rollback({ by: 'ann', to: version?.version });
    await follows();
    expect(isTicklessError(await rejectionOf(b.value.refresh()), 'PINNED')).toBe(true);
    await a.value.unpin();
    await b.until(() => b.value.inspect().pinned === undefined);
  });

  it('keys that are set, marked by a tag and cleared on one instance are followed by the other', async () => {
    const [a, b] = instances as [Instance, Instance];
    await a.cache.set('k', 'by hand');
    await b.until(() => b.cache.peek('k') === 'by hand');
    const of = (key: string): string | undefined => b.cache.peek(key);
    const [k, l] = [of('k'), of('l')];
    await a.cache.invalidateTag('l');
    await b.until(() => of('l') !== l);
    expect(of('k')).toBe(k);
    await a.cache.clear();
    await b.until(() => of('k') !== k && of('k') !== undefined);
  });

  it('the fleet has both, with what they hold', async () => {
    const [a] = instances as [Instance, Instance];
    await a.value.set('the last');
    const reading = Promise.all(
      instances.map((instance) => instance.until(() => instance.value.peek() === 'the last')),
    );
    await reading;
    const endAt = performance.now() + SOON_MS;
    let text: string | undefined;
    while (!text?.startsWith('2 of 2 hold') && performance.now() < endAt) {
      await Promise.all(instances.map((instance) => instance.value.get()));
      await sleep(20);
      text = (await a.store.fleet()).members.find(({ name }) => name === 'v')?.text;
    }
    expect(text).toMatch(/^2 of 2 hold version \d+, oldest /);
  });
});
