import { describe, expect, it } from 'vitest';

import { recordLines, wordOf } from '../../support/events.ts';
import { fakeValue } from '../../support/manual-value.ts';

const throwing = (error: unknown) => (): never => {
  throw error;
};

const misdeeds: Record<string, () => unknown> = {
  'throws synchronously': throwing(new Error('sync')),
  'throws undefined': throwing(undefined),
  rejects: () => Promise.reject(new Error('async')),
  'rejects with nothing': () => Promise.reject(),
  'never settles': () => new Promise(() => {}),
  'returns a then that throws': () => ({ then: throwing(new Error('then')) }),
  'returns a then that is a throwing getter': () =>
    Object.defineProperty({}, 'then', { get: throwing(new Error('getter')) }),
  'returns a then that calls both back': () => ({
    then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
      reject(new Error('first'));
      resolve('second');
    },
  }),
  'returns a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  'rejects with a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return Promise.reject(proxy);
  },
  'rejects with an error whose message is none': () =>
    Promise.reject(Object.assign(new Error('x', { cause: new Error('y') }), { message: 42 })),
  'rejects with an error whose cause throws': () =>
    Promise.reject(Object.defineProperty(new Error('x'), 'cause', { get: throwing(new Error('cause')) })),
  'throws an object that has no string form': throwing(Object.create(null)),
  'aborts itself': () => Promise.reject(new DOMException('gone', 'AbortError')),
};

describe('rule 4: the running mark never sticks', () => {
  for (const [name, misdeed] of Object.entries(misdeeds)) {
    for (const retry of [undefined, { retries: 1, minTimeout: 5 }]) {
      it(`after a load that ${name}, ${retry ? 'with' : 'without'} retry`, async () => {
        let isMisbehaving = false;
        let loads = 0;
        const { clock, value } = fakeValue<unknown>(
          () => {
            loads += 1;
            return isMisbehaving ? misdeed() : Promise.resolve(loads);
          },
          { schedule: 100, timeout: 1000, coolDown: 10, retry },
        );
        await value.get();
        isMisbehaving = true;
        await clock.advance(200);
        expect(value.current).toBe(1);
        await clock.advance(1000);
        expect(value.inspect()).toMatchObject({ running: false, failures: 1, value: 1 });
        expect(clock.timerCount).toBe(0);
        isMisbehaving = false;
        await clock.advance(20);
        expect(value.current).toBe(1);
        await clock.flush();
        expect(value.inspect()).toMatchObject({ running: false, failures: 0, value: loads });
      });
    }
  }

  it('with a listener that throws on every event', async () => {
    const logger = recordLines();
    let isDown = false;
    const { clock, value } = fakeValue(
      async () => {
        if (isDown) throw new Error('down');
        return 1;
      },
      { schedule: 100, coolDown: 10, logger },
    );
    const seen: string[] = [];
    value.on('*', (event) => {
      seen.push(wordOf(event));
      throw new Error('listener');
    });
    await value.get();
    for (isDown of [true, false]) {
      await clock.advance(200);
      expect(value.current).toBe(1);
      await clock.flush();
      expect(value.inspect().running).toBe(false);
    }
    expect(seen).toContain('failed');
    expect(logger.lines).toContain('error tickless: v: listener of * threw: listener');
  });

  for (const [name, answer] of Object.entries<() => unknown>({
    throws: throwing(new Error('no idea')),
    'returns NaN': () => Number.NaN,
    'returns the past': () => 0,
    'returns a Date': () => new Date(8.64e15),
    'returns undefined': () => undefined,
    'returns -Infinity': () => Number.NEGATIVE_INFINITY,
  })) {
    it(`with a schedule that ${name}`, async () => {
      const logger = recordLines();
      let loads = 0;
      const { clock, value } = fakeValue(async () => ++loads, {
        schedule: answer as () => number,
        coolDown: 1000,
        logger,
      });
      expect(await value.get()).toBe(1);
      for (let i = 0; i < 40; i++) value.current;
      await clock.flush();
      expect(loads).toBe(1);
      expect(value.inspect()).toMatchObject({ running: false, failures: 1, state: 'fresh' });
      expect(logger.lines).toHaveLength(1);
      expect(logger.lines[0]).toMatch(/^error tickless: v: .*schedule must/);
      await clock.advance(1000);
      value.current;
      await clock.flush();
      expect(loads).toBe(2);
    });
  }

  it('a load that throws synchronously has ended with its call', async () => {
    const { clock, value } = fakeValue(throwing(new Error('sync')));
    const reason = value.get().catch((error) => error);
    await clock.advance(5000); // the pauses between the tries
    expect(String(await reason)).toContain('load failed: sync');
    expect(value.inspect().running).toBe(false);
  });
});
