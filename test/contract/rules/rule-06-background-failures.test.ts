import { describe, expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { isOutcome, recordEvents, recordLines } from '../../support/events.ts';
import { fakeValue, manualValue } from '../../support/manual-value.ts';
import { rejectionOf } from '../../support/settle.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';

const failing = () => {
  const logger = recordLines();
  let isDown = false;
  const load = async (): Promise<number> => {
    if (isDown) throw new Error('connect\n  refused');
    return 1;
  };
  const { value, clock } = fakeValue(load, {
    ...{ name: 'rates', schedule: 100, logger, random: () => 0.5 },
    retry: { retries: 2, minTimeout: 10, randomize: false },
  });
  const fail = async (): Promise<void> => {
    await value.get();
    isDown = true;
    await clock.advance(200);
    value.current;
    await clock.advance(100);
  };
  return { value, lines: logger.lines, fail };
};

describe('rule 6: background failures reach listeners and the logger only', () => {
  it('logs one line with the name, the attempt, the next try and the cause', async () => {
    const { lines, fail } = failing();
    await fail();
    expect(lines).toEqual([
      'warn tickless: rates: background load failed at attempt 3, next try in 750 ms (2026-01-01T00:00:00.980Z); reads are served, the value is 230 ms old, without maxStaleness: connect refused',
    ]);
  });

  it('listeners get the event besides', async () => {
    const { value, lines, fail } = failing();
    const events = recordEvents(value);
    await fail();
    expect(lines).toHaveLength(1);
    expect(events.find(isOutcome('failed'))).toMatchObject({
      name: 'rates',
      background: true,
      attempts: 3,
      trigger: 'due',
      error: { code: 'LOAD_FAILED', cause: { message: 'connect\n  refused' } },
    });
  });

  it('logger: false silences it, and a logger that throws does not affect reads', async () => {
    const fails = (): never => {
      throw new Error('logger');
    };
    for (const logger of [false as const, { warn: fails, error: fails }]) {
      let loads = 0;
      const { clock, value } = fakeValue(
        async () => {
          if (loads++ > 0) throw new Error('down');
          return 1;
        },
        { schedule: 100, logger },
      );
      await value.get();
      await clock.advance(100);
      expect(await value.get()).toBe(1);
      await clock.flush();
      expect(value.inspect()).toMatchObject({ running: false, failures: 1 });
    }
  });

  it('logs a line for a load whose waiting callers have all left', async () => {
    const logger = recordLines();
    const { clock, manual, value } = manualValue({ logger });
    const controller = new AbortController();
    const read = rejectionOf(value.get({ signal: controller.signal }));
    controller.abort();
    await read;
    manual.call(0).reject(new Error('down'));
    await clock.flush();
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toContain('load failed at attempt 1');
  });

  it('no dropped promise becomes an unhandled rejection', async () => {
    const unhandled = unhandledRejections();
    for (const isSync of [true, false]) {
      const make = (): RefreshingValue<number> =>
        new RefreshingValue({
          name: 'v',
          load: (): Promise<number> => {
            if (isSync) throw new Error('down');
            return Promise.reject(new Error('down'));
          },
          logger: false,
        });
      const value = make();
      void value.get();
      void value.get();
      void value.get({ signal: AbortSignal.abort() });
      void make().get({ signal: AbortSignal.timeout(1) });
      void make().refresh();
      void make().requestStart();
      void make().requestStart({ wait: true });
      void make().requestStart({ wait: false });
      const stale = make();
      stale.set(1);
      stale.invalidate();
      void stale.get({ patience: 1 });
      const closed = make();
      void closed.get();
      void closed.close({ timeout: 0 });
      void closed.refresh();
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(unhandled).toEqual([]);
  });

  it('nor does the late failure of a load that has superseded itself, under retry', async () => {
    const unhandled = unhandledRejections();
    const value: RefreshingValue<number> = new RefreshingValue<number>({
      name: 'v',
      logger: false,
      retry: { retries: 1, minTimeout: 1, randomize: false },
      load: async () => {
        value.set(1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        throw new Error('late');
      },
    });
    expect(await value.refresh()).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(unhandled).toEqual([]);
  });
});
