import { describe, expect, it } from 'vitest';
import { RefreshingCache } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { fakeValue, loadedManualValue, manualValue } from '../../support/manual-value.ts';
import { settled } from '../../support/settle.ts';

const tooStale = { error: { code: 'TOO_STALE' } };
const notLoaded = { error: { code: 'NOT_LOADED' } };

describe('patience is the longest that a read waits', () => {
  it('for the first load: then it rejects, and the load goes on', async () => {
    const { clock, value, manual } = manualValue();
    const [read, result, patient] = [
      value.get({ patience: 200 }),
      value.read({ patience: 200 }),
      value.get(),
    ];
    await clock.advance(199);
    expect(await settled(read)).toBe('pending');
    await clock.advance(1);
    expect(await settled(read)).toMatchObject(notLoaded);
    expect(await settled(result)).toMatchObject(notLoaded);
    manual.call(0).resolve('one');
    expect(await patient).toBe('one');
    expect(await value.get({ patience: 200 })).toBe('one');
  });

  it.each([
    ['beyond maxStaleness', { maxStaleness: 5000 }, {}],
    ['beyond maxStaleness', {}, { maxStaleness: 4000 }],
  ])('for the reload of a value %s, in each read', async (_, options, read) => {
    const { clock, value, manual } = await loadedManualValue(options);
    await clock.advance(6000);
    for (let turn = 0; turn < 3; turn++) {
      const get = value.get({ patience: 200, ...read });
      await clock.advance(200);
      expect(await settled(get)).toMatchObject(tooStale);
    }
    const get = value.get({ patience: 200, ...read });
    manual.call(1).resolve('two');
    expect(await get).toBe('two');
    expect(manual.calls).toHaveLength(2);
  });

  it('a value that gets too old while the read waits is not waited for again', async () => {
    const { clock, value } = await loadedManualValue({ maxStaleness: 1100, timeout: 60_000 });
    await clock.advance(1000);
    const get = value.get({ patience: 200 });
    await clock.advance(200);
    expect(await settled(get)).toMatchObject(tooStale);
  });

  it('0: not at all; a synchronous load is served', async () => {
    const { value } = manualValue();
    expect(await settled(value.get({ patience: 0 }))).toMatchObject(notLoaded);
    expect(await fakeValue(() => 'sync').value.get({ patience: 0 })).toBe('sync');
    expect(await settled(manualValue().value.get({ patience: Infinity }))).toBe('pending');
  });

  it('for a successor of an invalidated load, with the rest of it', async () => {
    const { clock, value, manual } = manualValue();
    void value.get();
    value.invalidate();
    const get = value.get({ patience: 200 });
    await clock.advance(150);
    manual.call(0).resolve('one');
    await clock.advance(49);
    expect(await settled(get)).toBe('pending');
    await clock.advance(1);
    expect(await settled(get)).toMatchObject(notLoaded); // the load of the value in place began before the invalidation
  });

  it('for the keys of getMany, and a batch of them', async () => {
    const clock = new FakeClock();
    const loadMany = (): Promise<Map<string, string>> => new Promise(() => {});
    const cache = new RefreshingCache({ name: 'c', loadMany, clock, logger: false });
    const many = cache.getMany(['a', 'b'], { patience: 200 });
    const one = cache.read('a', { patience: 300 });
    await clock.advance(300);
    await clock.flush();
    const errors = [{ code: 'NOT_LOADED', key: 'a' }, { key: 'b' }];
    expect(await settled(many)).toMatchObject({ error: { errors } });
    expect(await settled(one)).toMatchObject(notLoaded);
  });

  it('for a place', async () => {
    const clock = new FakeClock();
    const load = (): Promise<string> => new Promise(() => {});
    const cache = new RefreshingCache({ name: 'c', load, concurrency: 1, clock, logger: false });
    void cache.get('a').catch(() => {});
    const inLine = cache.get('b', { patience: 200 });
    await clock.advance(199);
    expect(await settled(inLine)).toBe('pending');
    await clock.advance(1);
    expect(await settled(inLine)).toMatchObject(notLoaded);
  });

  it('for a backend that is silent, and for the holder of the lock', async () => {
    const cluster = new ManualCluster();
    const [holder, other] = [cluster.instance(), cluster.instance()];
    void holder.value.get();
    await cluster.clock.flush();
    const waiting = other.value.get({ patience: 200 });
    await cluster.clock.advance(210);
    expect(await settled(waiting)).toMatchObject(notLoaded);
    const silent = cluster.instance();
    silent.link.break('no-answer', 'acquire', 'read');
    const get = silent.value.get({ patience: 200 });
    await cluster.clock.advance(210);
    expect(await settled(get)).toMatchObject(notLoaded);
  });
});
