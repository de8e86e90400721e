import { describe, expect, it } from 'vitest';
import { isTicklessError, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { rejectionOf } from '../../support/settle.ts';

function make() {
  const clock = new FakeClock();
  const manual = new ManualLoad<string>('goes-on');
  const options = {
    name: 'v',
    load: manual.load,
    clock,
    logger: false,
    retry: false,
    coolDown: '1m',
  } as const;
  return { clock, manual, value: new RefreshingValue<string>(options) };
}

describe('the load after one that was superseded is decided on as any other', () => {
  it('in a cool-down none starts: the reader that waits gets the error of that', async () => {
    const { clock, manual, value } = make();
    const first = rejectionOf(value.get());
    manual.call(0).reject(new Error('down'));
    await first;
    void value.refresh().catch(() => {}); // in spite of the cool-down
    value.cancel('by hand'); // it keeps its place until it settles
    const read = rejectionOf(value.get());
    manual.call(1).resolve('late');
    await clock.advance(1);
    expect(manual.calls).toHaveLength(2);
    expect(isTicklessError(await read, 'COOLING_DOWN')).toBe(true);
  });

  it('while it is paused none starts; a refresh does', async () => {
    const { clock, manual, value } = make();
    void value.get().catch(() => {});
    value.invalidate({ drop: true });
    const read = rejectionOf(value.get());
    value.pause();
    manual.call(0).resolve('one');
    await clock.advance(1);
    expect(manual.calls).toHaveLength(1);
    expect(isTicklessError(await read, 'NOT_LOADED')).toBe(true);
    void value.refresh().catch(() => {});
    expect(manual.calls).toHaveLength(2);
  });
});
