import { describe, expect, it } from 'vitest';
import { ageHeaders } from '../../../src/index.ts';
import { fakeValue } from '../../support/manual-value.ts';

describe('the headers of a response', () => {
  it('have the age, and the seconds until the value is due or since when it is', async () => {
    const { value, clock } = fakeValue(() => 1, { schedule: 60_000 });
    expect(ageHeaders(value.inspect())).toEqual({ 'Cache-Status': 'tickless; fwd=miss' });
    expect(value.current).toBe(1);
    const headersAfter = async (ms: number): Promise<unknown> => {
      await clock.advance(ms);
      return Object.values(ageHeaders(value.inspect()));
    };
    expect(await headersAfter(0)).toEqual(['0', 'tickless; hit; ttl=60']);
    expect(await headersAfter(1999)).toEqual(['1', 'tickless; hit; ttl=58']);
    expect(await headersAfter(58_001)).toEqual(['60', 'tickless; hit; ttl=0']);
    expect(await headersAfter(30_000)).toEqual(['90', 'tickless; hit; ttl=-30']);
  });

  it('say that a stale value waits for the end of a cool-down, and nothing of a value that is never due', async () => {
    let isUp = true;
    const load = (): number => {
      if (!isUp) throw new Error('down');
      return 1;
    };
    const { value, clock } = fakeValue(load, { schedule: 10_000, coolDown: 60_000 });
    expect(value.current).toBe(1);
    isUp = false;
    await clock.advance(10_000);
    expect(value.current).toBe(1);
    await clock.flush();
    expect(ageHeaders(value.inspect())).toEqual({ Age: '10', 'Cache-Status': 'tickless; hit; detail=stale' });
    isUp = true;
    value.reschedule(Infinity);
    await value.refresh();
    expect(ageHeaders(value.inspect())).toEqual({ Age: '0', 'Cache-Status': 'tickless; hit' });
    expect(ageHeaders(undefined)).toEqual({ 'Cache-Status': 'tickless; fwd=miss' });
  });
});
