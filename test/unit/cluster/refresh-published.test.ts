import { describe, expect, it } from 'vitest';
import { type Fault, type ManualCluster, warmOne } from '../../support/cluster.ts';
import { settled } from '../../support/settle.ts';

/** A write that takes half a second. */
function slowWrite({ clock }: ManualCluster): Fault {
  return new Promise<void>((resolve) => void clock.setTimeout(resolve, 500));
}

describe('refresh() of a shared value', () => {
  it('resolves when the snapshot is in the store; readers are served before', async () => {
    const { cluster, a } = await warmOne();
    a!.link.breakOnce(slowWrite(cluster), 'write');
    const refreshed = a!.value.refresh();
    await cluster.clock.flush();
    await cluster.end(a, 1, 'two');
    expect(await a!.value.get()).toBe('two');
    expect(await settled(refreshed)).toBe('pending');
    await cluster.clock.advance(500);
    expect(await settled(refreshed)).toEqual({ value: 'two' });
    const version = a!.value.inspect().lock?.version;
    expect((await cluster.store.read('v'))?.version).toBe(version);
  });

  it('with here resolves without a version when it could not be published', async () => {
    const { cluster, a } = await warmOne();
    a!.link.break('refused', 'write');
    expect(await cluster.refresh(a!, 1, 'two', { here: true })).toBe('two');
    expect(a!.value.inspect().lock?.version).toBeUndefined();
  });

  it('waits for a store that is silent as long as its writes may take', async () => {
    const { cluster, a } = await warmOne();
    a!.link.break('no-answer', 'write');
    const refreshed = a!.value.refresh({ here: true });
    await cluster.clock.flush();
    a!.manual.call(1).resolve('two');
    await cluster.clock.advance(2999);
    expect(await settled(refreshed)).toBe('pending');
    await cluster.clock.advance(1);
    expect(await settled(refreshed)).toEqual({ value: 'two' });
  });
});
