import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../src/testing/index.ts';
import { yieldsFor, yieldToEventLoop } from '../../../src/time/yield-to-event-loop.ts';

/** Notes each turn of the event loop until `over` settles. */
async function turnsOf(log: unknown[], over: Promise<unknown>): Promise<void> {
  let isOver = false;
  void over.then(() => (isOver = true));
  while (!isOver) {
    log.push('turn');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('turns of the event loop', () => {
  it('are given to one caller each, in the order of their calls', async () => {
    const log: unknown[] = [];
    const work = async (name: string): Promise<void> => {
      for (let slice = 1; slice <= 3; slice++) {
        await yieldToEventLoop();
        log.push(`${name}${slice}`);
      }
    };
    await turnsOf(log, Promise.all([work('a'), work('b')]));
    const slices = log.filter((entry) => entry !== 'turn');
    expect(slices).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
    expect(log.join(' ')).not.toMatch(/[ab]\d [ab]\d/);
  });

  it('are rarer after a while, and over after twice the time', async () => {
    const clock = new FakeClock();
    const yields = yieldsFor(clock, 10);
    const log: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let slice = 1; slice <= 28; slice++) {
        if (slice === 3 || slice === 20) await clock.advance(10);
        log.push(slice);
        await yields();
      }
    };
    await turnsOf(log, work());
    const slices = log.join(' ').replaceAll(/(turn ?)+/g, '| ');
    expect(slices).toBe(
      '1 | 2 | 3 4 5 6 7 8 9 10 | 11 12 13 14 15 16 17 18 | 19 | 20 21 22 23 24 25 26 27 28',
    );
  });
});
