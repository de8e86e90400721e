import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { loaded, RefreshingCache, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';

const WITHIN = 500;
/** Time for the reads of the store after a check, with a read each 10 ms. */
const SLACK = 30;

/** Something of which newer and older ones can be told apart. */
interface Edition {
  readonly at: number;
}

/** What one instance serves, as the instant of its load; `undefined`: its reads wait. */
type Served = () => number | undefined;

/** Instances of which each serves an edition, and whose next loads are an hour away. */
function service(count: number) {
  const clock = new FakeClock();
  const backend = memoryBackend({ clock, keepVersions: 5 });
  const common = { schedule: { hours: 1 }, logger: false, clock, backend, propagateWithin: WITHIN } as const;
  const edition = async (): Promise<Edition> => {
    const at = clock.monotonic();
    await Promise.resolve();
    return { at };
  };
  const values = Array.from(
    { length: count },
    () => new RefreshingValue<Edition>({ ...common, name: 'v', load: edition }),
  );
  const cache = (): RefreshingCache<string, Edition> =>
    new RefreshingCache<string, Edition>({
      ...common,
      name: 'c',
      load: async (key) => loaded(await edition(), { tags: [key.slice(0, 1)] }),
    });
  return { clock, values, cache, caches: Array.from({ length: count }, cache) };
}

/** All read each 10 ms. @param check gets each instance's edition. */
async function readFor(
  clock: FakeClock,
  reads: readonly { readonly start: () => unknown; readonly served: Served }[],
  ms: number,
  check: (at: number, instance: number, since: number) => void = () => {},
): Promise<void> {
  for (let since = 0; since <= ms; since += 10) {
    for (const [index, { start, served }] of reads.entries()) {
      start();
      const at = served();
      if (at !== undefined) check(at, index, since);
    }
    await clock.advance(10);
  }
}

/** After that time no instance serves an edition of before. */
function noneOlderThan(mark: number): (at: number, instance: number, since: number) => void {
  return (at, instance, since) => {
    if (since >= WITHIN + SLACK)
      expect({ instance, since, isOlder: at < mark }).toMatchObject({ isOlder: false });
  };
}

describe('rule 24: with propagateWithin no instance that is read serves an edition older than a mark for longer', () => {
  it('of a value that was set, refreshed, dropped or rolled back', async () => {
    const { clock, values } = service(5);
    const reads = values.map((value) => ({
      start: () => void value.get().catch(() => {}),
      served: () => value.peek()?.at,
    }));
    await readFor(clock, reads, 100);
    for (let round = 0; round < 12; round++) {
      const one = values[round % 5] as RefreshingValue<Edition>;
      const mark = clock.monotonic();
      await [() => one.set({ at: mark }), () => one.refresh(), () => one.invalidate({ drop: true })][
        round % 3
      ]?.();
      await readFor(clock, reads, 2 * WITHIN, noneOlderThan(mark));
    }
    const [, before] = (await (values[0] as RefreshingValue<Edition>).history()).filter(({ mark }) => !mark);
    await values[3]?.rollback({ by: 'ann', to: before?.version });
    const back = values[3]?.current.at as number;
    await readFor(clock, reads, 2 * WITHIN, (at, instance, since) => {
      if (since >= WITHIN + SLACK) expect({ instance, at }).toEqual({ instance, at: back });
    });
  });

  it('of keys that were set, dropped, cleared or have a tag', async () => {
    const { clock, caches } = service(4);
    const keys = ['a1', 'a2', 'b1'];
    const reads = caches.flatMap((cache) =>
      keys.map((key) => ({
        key,
        start: () => void cache.get(key).catch(() => {}),
        served: () => cache.peek(key)?.at,
      })),
    );
    await readFor(clock, reads, 100);
    for (let round = 0; round < 12; round++) {
      const one = caches[round % 4] as RefreshingCache<string, Edition>;
      const mark = clock.monotonic();
      const [act, meant] = [
        [() => one.set('a1', { at: mark }), /a1/],
        [() => one.invalidate('b1', { drop: true }), /b1/],
        [() => one.invalidateTag('a'), /a2/], // a value that was set has no tags
        [() => one.clear(), /./],
      ][round % 4] as [() => Promise<void>, RegExp];
      await act();
      await clock.advance(1); // a load of the same instant would count as older
      const concerned = reads.filter(({ key }) => meant.test(key));
      // A value that is out of date is served until its reload has ended.
      await readFor(clock, reads, WITHIN + 2 * SLACK);
      await readFor(clock, concerned, 100, noneOlderThan(mark - WITHIN - SLACK));
      for (const { served } of concerned) expect(served() ?? mark).toBeGreaterThanOrEqual(mark);
    }
  });

  it('and one that starts later adopts nothing that is older, though two have marked at the same time', async () => {
    const { clock, cache, caches } = service(2);
    const [a, b] = caches as [RefreshingCache<string, Edition>, RefreshingCache<string, Edition>];
    await a.getMany(['a1', 'b1']);
    await clock.advance(10);
    const mark = clock.monotonic();
    const marked = [a.invalidateTag('a'), b.invalidateTag('b')];
    await clock.advance(500); // one waits for the other
    await Promise.all(marked);
    const editions = [...(await cache().getMany(['a1', 'b1'])).values()];
    expect(editions.filter(({ at }) => at < mark)).toEqual([]);
  });
});
