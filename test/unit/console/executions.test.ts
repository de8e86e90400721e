import { afterEach, describe, expect, it } from 'vitest';
import { type PeriodicExecutor, RefreshGroup } from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { TestConsole } from '../../support/console.ts';
import { partsOn } from '../../support/parts.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Two instances on one backend; the first has a console. `isDown`: their loads fail. */
function twoInstances() {
  const records = memoryRecords(systemClock);
  const source = { isDown: false };
  const instance = () => {
    const backend = partsOn(records);
    const quiet = { logger: false, retry: false, schedule: '1h' } as const;
    const group = new RefreshGroup({ backend, propagateWithin: 20, ...quiet });
    open.push(() => group.close({ timeout: 0 }));
    const load = async (): Promise<number> => {
      if (source.isDown) throw new Error('HTTP 502, token=hunter2');
      return 1;
    };
    const rates = group.value({ name: 'rates', load });
    const cities = group.cache({ name: 'cities', load: async (code: string) => code });
    const cleaner = group.executor(load, { name: 'cleaner', lock: backend });
    return { group, rates, cities, cleaner };
  };
  const [here, there] = [instance(), instance()];
  const console = new TestConsole({}, here.group);
  open.push(() => console.handler.close());
  const executions = async (query: string) => (await console.get(`api/member?id=${query}`)).body.executions;
  return { here, there, source, executions };
}

describe('the last executions of a member', () => {
  it('are those of this instance before any page was open, and of others where one has failed', async () => {
    const { here, there, source, executions } = twoInstances();
    await here.rates.get();
    await there.rates.get();
    expect(await executions('rates')).toMatchObject([{ outcome: 'loaded', trigger: 'first', attempts: 1 }]);
    source.isDown = true;
    await there.rates.refresh().catch(() => {});
    source.isDown = false;
    const elsewhere = async () => {
      await there.rates.get();
      return (await executions('rates')).filter(({ on }: { on?: string }) => on !== undefined);
    };
    await expect
      .poll(elsewhere)
      .toMatchObject([{ outcome: 'failed', trigger: 'forced' }, { outcome: 'adopted' }]);
    const [failed] = await elsewhere();
    expect(failed.error).toBe('HTTP 502, token=[hidden]');
    expect(Math.abs(failed.startedAt - Date.now())).toBeLessThan(10_000);
  });

  it('of a cache name the keys; of a key they are its own', async () => {
    const { here, executions } = twoInstances();
    for (const key of ['1012', '2513']) await here.cities.get(key);
    expect(await executions('cities')).toMatchObject([{ key: '"2513"' }, { key: '"1012"' }]);
    expect(await executions('cities&key=%221012%22')).toMatchObject([{ key: '"1012"', outcome: 'loaded' }]);
  });

  it('of a task are its runs on all instances, not the rounds that were left to another one', async () => {
    const { here, there, source, executions } = twoInstances();
    await there.cleaner.execute();
    await here.cleaner.requestStart();
    const ended = Date.now();
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(ended); // they are shown in the order of milliseconds
    source.isDown = true;
    await there.cleaner.execute().catch(() => {});
    await expect.poll(() => executions('cleaner')).toHaveLength(2); // it is written behind
    const runs = await executions('cleaner');
    expect(runs).toMatchObject([
      { outcome: 'failed', error: 'HTTP 502, token=[hidden]', on: expect.any(String) },
      { outcome: 'done', on: expect.any(String) },
    ]);
  });

  it('of a task without a lock are those of this instance', async () => {
    const group = new RefreshGroup({ logger: false, retry: false });
    const console = new TestConsole({}, group);
    open.push(() => console.handler.close());
    const task: PeriodicExecutor = group.executor(() => {}, { name: 'local' });
    await task.execute();
    const { body } = await console.get('api/member?id=local');
    expect(body.executions).toMatchObject([{ outcome: 'done', trigger: 'forced' }]);
    expect(body.executions[0]).not.toHaveProperty('on');
  });
});
