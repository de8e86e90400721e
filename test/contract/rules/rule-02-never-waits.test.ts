import { describe, expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { fakeValue, loadedManualValue } from '../../support/manual-value.ts';
import { settled } from '../../support/settle.ts';

describe('rule 2: a read never waits once a value is loaded, unless its caller chose to', () => {
  it('serves the old value while a load hangs, fails or cools down', async () => {
    const { clock, manual, value } = await loadedManualValue({ schedule: 10 });
    await clock.advance(60_000);
    expect(await settled(value.get())).toEqual({ value: 'one' });
    expect(await settled(value.requestStart())).toEqual({ value: undefined });
    manual.call(1).reject(new Error('down'));
    await clock.flush();
    expect(await settled(value.get())).toEqual({ value: 'one' });
    value.pause();
    expect(await settled(value.get())).toEqual({ value: 'one' });
  });

  it('serves an awaiting reader before a synchronous reload runs', async () => {
    const clock = new FakeClock();
    let loads = 0;
    const order: string[] = [];
    const value = new RefreshingValue({
      name: 'v',
      load: () => {
        order.push(`load ${++loads}`);
        return loads;
      },
      schedule: 10,
    });
    expect(value.current).toBe(1);
    const started = performance.now();
    while (performance.now() - started < 12) clock.now();
    const read = (async (): Promise<number> => value.get())(); // an await of an await, as in a handler
    order.push(`served ${await read}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    order.push(`now ${value.peek()}`);
    expect(order).toEqual(['load 1', 'served 1', 'load 2', 'now 2']);
  });

  it('runs nothing of the reload on the stack of the read', async () => {
    let loads = 0;
    const { clock, value } = fakeValue(async () => ++loads, { schedule: 10 });
    await value.get();
    await clock.advance(10);
    expect(value.current).toBe(1);
    expect(value.inspect().running).toBe(true);
    expect(loads).toBe(1);
    await clock.flush();
    expect(loads).toBe(2);
  });

  it('gives every call the same resolved promise while a value lives', async () => {
    const { clock, value } = fakeValue(async () => ({}), { schedule: 10 });
    await value.get();
    const promise = value.get();
    expect(value.get()).toBe(promise);
    await clock.advance(10);
    expect(value.get()).toBe(promise);
    await clock.flush();
    expect(value.get()).not.toBe(promise);
  });
});
