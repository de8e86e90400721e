import { describe, expect, it, vi } from 'vitest';
import { isTicklessError } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf, settled } from '../../support/settle.ts';
import { cacheOf, loadOf, sharedInt, threadCount, until, valueFrom } from './support.ts';

/** Loads that report their start in shared memory, and do not end. */
const hangs = `export default (flag) => { Atomics.store(flag, 0, 1); return new Promise(() => {}) }`;
const isBusy = `export default (flag) => { Atomics.store(flag, 0, 1); for (;;); }`;

it('a time-out names the thread that hangs', async () => {
  const clock = new FakeClock();
  const value = valueFrom('export default () => new Promise(() => {})', { clock, timeout: 1000 });
  const reason = rejectionOf(value.get());
  await until(() => threadCount() > 0);
  await clock.advance(1000);
  expect(String(await reason)).toMatch(/v: load timed out after 1 s, waiting for the worker .+/);
  await until(() => threadCount() === 0);
});

describe('the thread', () => {
  it('has ended when the load has settled', async () => {
    const load = loadOf('export default (fails) => { if (fails) throw new Error("x"); return 1 }');
    await load(false, { signal: new AbortController().signal });
    expect(threadCount()).toBe(0);
    await rejectionOf(load(true, { signal: new AbortController().signal }));
    expect(threadCount()).toBe(0);
    expect(process.getActiveResourcesInfo()).not.toContain('MessagePort');
  });

  it('ends, although it has a server and an interval', async () => {
    const code = `import { createServer } from 'node:http';
      export default () => { createServer().listen(0); setInterval(() => {}, 10); return 1 }`;
    await loadOf(code)();
    expect(threadCount()).toBe(0);
  });

  it('leaves no listener behind', async () => {
    const controller = new AbortController();
    const listening = vi.spyOn(controller.signal, 'addEventListener');
    const unlistening = vi.spyOn(controller.signal, 'removeEventListener');
    const before = [process.stdout, process.stderr].map((stream) => stream.eventNames().length);
    const load = loadOf('export default () => 1', { concurrency: 1 });
    await Promise.all([1, 2, 3].map(() => load({ signal: controller.signal })));
    expect(listening).toHaveBeenCalled();
    expect(unlistening.mock.calls.length).toBe(listening.mock.calls.length);
    expect([process.stdout, process.stderr].map((stream) => stream.eventNames().length)).toEqual(before);
  });
});

describe('an abort', () => {
  it.each([
    ['a load that hangs', hangs],
    ['a load that is busy', isBusy],
  ])('ends the thread of %s, with the reason of the signal', async (_, code) => {
    const flag = sharedInt();
    const controller = new AbortController();
    const { signal } = controller;
    const ended = loadOf(code)(flag, { signal });
    await until(() => flag[0] === 1);
    expect(threadCount()).toBe(1);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await settled(ended)).toBe('pending'); // not before the thread has ended
    expect(await rejectionOf(ended)).toBe(reason);
    expect(threadCount()).toBe(0);
  });

  it('before it begins starts no thread', async () => {
    const reason = new Error('enough');
    expect(await rejectionOf(loadOf(hangs)({ signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  it('right after the call starts no thread either', async () => {
    const flag = sharedInt();
    const load = loadOf(hangs, { concurrency: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const loads = [first, second].map((controller) => rejectionOf(load(flag, controller)));
    first.abort(new Error('first'));
    expect(await loads[0]).toBe(first.signal.reason);
    await until(() => flag[0] === 1); // the second, whose turn it is
    expect(threadCount()).toBe(1);
    second.abort(new Error('second'));
    expect(await loads[1]).toBe(second.signal.reason);
    expect(threadCount()).toBe(0);
  });

  it('reaches the signal in the thread, with its reason, so that the load can clean up', async () => {
    const flag = sharedInt();
    const controller = new AbortController();
    const code = `export default (flag, { signal }) => new Promise((resolve) => {
      Atomics.store(flag, 0, 1);
      signal.addEventListener('abort', () => {
        const { name, message, status } = signal.reason;
        if (name === 'RangeError' && message === 'enough' && status === 5) Atomics.store(flag, 0, 2);
        resolve('late');
      });
    })`;
    const ended = loadOf(code)(flag, controller);
    await until(() => flag[0] === 1);
    controller.abort(Object.assign(new RangeError('enough'), { status: 5 }));
    expect(await rejectionOf(ended)).toBe(controller.signal.reason);
    expect(flag[0]).toBe(2);
  });

  it('while parts arrive ends it too', async () => {
    const flag = sharedInt();
    const controller = new AbortController();
    const code = `export default (flag) => {
      setInterval(() => Atomics.store(flag, 0, 1)); // fires when the first part has been sent
      return Array.from({ length: 500_000 }, (_, i) => ({ i }));
    }`;
    const ended = loadOf(code)(flag, controller);
    await until(() => flag[0] === 1);
    controller.abort(new Error('enough'));
    expect(await rejectionOf(ended)).toBe(controller.signal.reason);
    expect(threadCount()).toBe(0);
  });

  it('runs in real time, also with the fake timers of a test kit', async () => {
    const flag = sharedInt();
    const controller = new AbortController();
    const ended = loadOf(isBusy)(flag, controller);
    await until(() => flag[0] === 1);
    vi.useFakeTimers();
    try {
      controller.abort(new Error('enough'));
      await rejectionOf(ended);
      expect(
        await loadOf('export default () => Array.from({ length: 9000 }, (_, i) => ({ i }))')(),
      ).toHaveLength(9000);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('in a value', () => {
  it('the deadline ends the thread; the next load has one of its own', async () => {
    const clock = new FakeClock();
    const flag = sharedInt();
    const load = loadOf(`export default (flag, { trigger }) => {
      Atomics.store(flag, 0, 1);
      if (trigger === 'first') for (;;);
      return trigger;
    }`);
    const value = valueFrom('', { load: (context) => load(flag, context), clock });
    const error = rejectionOf(value.get());
    await until(() => flag[0] === 1);
    await clock.advance({ seconds: 30 });
    expect(isTicklessError(await error, 'TIMED_OUT')).toBe(true);
    await until(() => threadCount() === 0);
    expect(await value.refresh()).toBe('forced');
  });

  it('set() and a drop end the thread', async () => {
    const flag = sharedInt();
    const load = loadOf(hangs);
    const cache = cacheOf({ load: (_key, context) => load(flag, context) });
    const first = cache.get('a');
    await until(() => flag[0] === 1);
    cache.set('a', 'by hand');
    expect(await first).toBe('by hand');
    await until(() => threadCount() === 0);
    flag[0] = 0;
    cache.invalidate('a');
    expect(cache.current('a')).toBe('by hand');
    await until(() => flag[0] === 1);
    cache.invalidate('a', { drop: true });
    await until(() => threadCount() === 0);
  });

  it('close() ends the thread', async () => {
    const flag = sharedInt();
    const load = loadOf(hangs);
    const value = valueFrom('', { load: (context) => load(flag, context) });
    const first = rejectionOf(value.get());
    await until(() => flag[0] === 1);
    await value.close({ timeout: 0 });
    await first;
    await until(() => threadCount() === 0);
  });
});

describe('many at a time', () => {
  it('have a thread each, up to concurrency; the others wait for their turn', async () => {
    const flags = [sharedInt(), sharedInt(), sharedInt()];
    const code = `export default async (flag) => {
      Atomics.store(flag, 0, 1);
      while (Atomics.load(flag, 0) === 1) await new Promise((resolve) => setTimeout(resolve, 2));
      return 'done';
    }`;
    const load = loadOf(code, { concurrency: 2 });
    const loads = flags.map((flag) => load(flag, new AbortController()));
    const isBegun = (): boolean[] => flags.map((flag) => flag[0] === 1);
    await until(() => isBegun().filter(Boolean).length === 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isBegun()).toEqual([true, true, false]);
    expect(threadCount()).toBe(2);
    (flags[1] as Int32Array)[0] = 2;
    expect(await loads[1]).toBe('done');
    await until(() => isBegun()[2] === true);
    expect(threadCount()).toBe(2);
    for (const flag of flags) flag[0] = 2;
    expect(await Promise.all(loads)).toEqual(['done', 'done', 'done']);
  });

  it('one that is aborted while it waits gives up its place', async () => {
    const flag = sharedInt();
    const load = loadOf(hangs, { concurrency: 1 });
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const loads = [first, second, third].map((controller) => rejectionOf(load(flag, controller)));
    await until(() => flag[0] === 1);
    second.abort(new Error('second'));
    expect(await loads[1]).toBe(second.signal.reason);
    flag[0] = 0;
    first.abort(new Error('first'));
    await loads[0];
    await until(() => flag[0] === 1); // the third
    third.abort(new Error('third'));
    expect(await loads[2]).toBe(third.signal.reason);
    expect(threadCount()).toBe(0);
  });
});
