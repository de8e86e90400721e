import { describe, expect, it } from 'vitest';
import { asLock } from '../../../src/backends/index.ts';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { isTicklessError, RefreshGroup, refreshing } from '../../../src/index.ts';
import { ManualCluster, twoTasks } from '../../support/cluster.ts';
import { lockOf, methodsOf } from '../../support/parts.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

const load = (): number => 1;

describe('register()', () => {
  it('shows members to operators that have not run, and runs nothing', async () => {
    const lock = lockOf(memoryBackend());
    const group = new RefreshGroup({ lock });
    let runs = 0;
    group.executor(() => void runs++, { name: 'report' });
    group.value({ name: 'rates', load });
    group.cache({ name: 'cities', load, backend: 'group' });
    group.value({ name: 'local', load, backend: false });
    await group.register();
    const records = (await lock.list()).map(({ name, state }) => `${name} ${state}`);
    expect(records).toEqual(['cities registered', 'rates registered', 'report registered']);
    expect(runs).toBe(0);
    expect(group.members().map((member) => member.inspect().counts.loaded)).toEqual([0, 0, 0, 0]);
    await group.close();
    expect(isTicklessError(await rejectionOf(group.register()), 'CLOSED')).toBe(true);
  });

  it('leaves the record of a run as it is, and a run takes the place of a registration', async () => {
    const { cluster, a, b } = twoTasks();
    await a.executor.register();
    expect(await cluster.lock.inspect('t')).toMatchObject({ state: 'registered', leaseLeft: 0, holdLeft: 0 });
    const first = b.executor.requestStart();
    await cluster.clock.flush();
    expect((await cluster.lock.inspect('t'))?.state).toBe('running');
    b.manual.call(0).resolve('done');
    await first;
    await cluster.clock.flush();
    await a.executor.register();
    expect((await cluster.lock.inspect('t'))?.state).toBe('done');
    expect(a.manual.calls).toHaveLength(0);
  });

  it('a registration that is under way counts as no run of another instance', async () => {
    const cluster = new ManualCluster();
    const { executor, manual } = cluster.task();
    const { lock } = cluster;
    const answer = await lock.acquire({ name: 't', owner: 'registers:other', leaseFor: 1000 });
    await executor.requestStart({ wait: false });
    await cluster.clock.advance(500);
    expect([manual.calls.length, executor.inspect().running]).toEqual([0, true]);
    if (answer.kind === 'acquired') await lock.release(answer.lease, { as: 'abandoned' });
    await cluster.clock.advance(1000);
    expect(manual.calls).toHaveLength(1);
    manual.call(0).resolve('done');
  });

  it('without a lock it resolves; where the lock is down it rejects, and holds no load back', async () => {
    expect(await settled(refreshing(load, { name: 'r' }).register())).toEqual({ value: undefined });
    const down = new ManualCluster().task();
    down.link.fault = () => 'refused';
    expect(isTicklessError(await rejectionOf(down.executor.register()), 'BACKEND_DOWN')).toBe(true);
  });

  it('holds for locks of your own that have records', async () => {
    const memory = lockOf(memoryBackend());
    const lock = asLock(methodsOf(memory));
    const group = new RefreshGroup({ lock });
    const value = group.value({ name: 'rates', load });
    await value.register();
    expect(await lock.list()).toMatchObject([{ name: 'rates', state: 'registered' }]);
    await group.close();
  });
});
