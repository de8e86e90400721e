import { describe, expect, it, vi } from 'vitest';
import { type Derived, derive, keep, RefreshingValue } from '../../../src/index.ts';
import { recordLines } from '../../support/events.ts';
import { fakeValue, loadedManualValue, manualValue } from '../../support/manual-value.ts';
import { ofOption } from '../../support/option-errors.ts';
import { rejectionOf, settled, thrownBy } from '../../support/settle.ts';

const silent = { logger: false } as const;

/** Values that were set by hand, on one clock. */
function two() {
  const { value: a, clock } = fakeValue<number>(() => 1, { name: 'a', schedule: 1000 });
  const { value: b } = fakeValue<number>(() => 10, { name: 'b', schedule: 1000, clock });
  return { a, b, clock };
}

describe('a derived value', () => {
  it('is computed when it is read and a source was replaced since, and not for keep()', async () => {
    const answers: unknown[] = ['one', keep(), 'one'];
    const { value, clock } = fakeValue<string>(() => answers.shift() as string);
    const compute = vi.fn((text: string) => text.length);
    const length = derive(value, compute, silent);
    expect(compute).not.toHaveBeenCalled();
    expect([length.current, length.current, await length.get(), length.peek()]).toEqual([3, 3, 3, 3]);
    await value.refresh(); // keep()
    expect([length.current, compute.mock.calls.length]).toEqual([3, 1]);
    await value.refresh(); // an equal value
    expect([length.peek(), compute.mock.calls.length]).toEqual([3, 1]);
    expect([length.current, compute.mock.calls.length]).toEqual([3, 2]);
    expect(clock.timerCount).toBe(0);
  });

  it('gets the values of several sources as arguments, and may be a source itself', async () => {
    const { a, b } = two();
    const sum = derive([a, b], (x, y) => x + y, silent);
    const text = derive([sum, a], (total, x) => `${total} with ${x}`, silent);
    expect([text.current, await text.get()]).toEqual(['11 with 1', '11 with 1']);
    b.set(20);
    expect([await text.get(), text.current]).toEqual(['21 with 1', '21 with 1']);
    expect(text.inspect().name).toBe('derive(derive(a, b), a)');
  });

  it('reads each value once, and computes each step once, in however many ways it depends on them', async () => {
    const { a, b } = two();
    let computed = 0;
    let [left, right] = [derive(a, (x) => x, silent), derive([a, b], (x, y) => x + y, silent)];
    for (let depth = 0; depth < 40; depth++) {
      const next = (): Derived<number> =>
        derive(
          [left, right, left],
          (x, y) => {
            computed += 1;
            return (x + y) % 1000;
          },
          silent,
        );
      [left, right] = [next(), next()];
    }
    const reads = vi.spyOn(a, 'get');
    await a.get();
    await b.get();
    reads.mockClear();
    expect(left.peek()).toBe(undefined);
    await left.get();
    expect([reads.mock.calls.length, computed]).toEqual([1, 79]);
    await left.get();
    expect([reads.mock.calls.length, computed, left.inspect().state]).toEqual([2, 79, 'fresh']);
    b.set(20);
    expect(left.inspect().state).toBe('stale');
    left.current;
    expect([computed, left.inspect().state, left.inspect().name.length]).toEqual([158, 'fresh', 200]);
  });

  it('may follow from 99 others, one after the other, and from no more', async () => {
    const { a } = two();
    let last: Derived<number> = derive(a, (x) => x + 1, silent);
    for (let depth = 1; depth < 100; depth++) last = derive(last, (x) => x + 1, silent);
    expect(await last.get()).toBe(101);
    expect(thrownBy(() => derive(last, (x) => x, silent))).toMatchObject({
      code: 'OPTION',
      message: expect.stringContaining('through at most 99 derived ones'),
    });
  });

  it('follows what another function has computed meanwhile that reads it', async () => {
    const { a } = two();
    const seen: number[] = [];
    let outer: Derived<number> | undefined;
    const inner = derive(
      a,
      (x) => {
        if (outer !== undefined) seen.push(outer.current);
        return x;
      },
      silent,
    );
    await inner.get();
    outer = derive(inner, (x) => x * 10, silent);
    expect(outer.current).toBe(10);
    a.set(2);
    inner.current;
    expect([seen.length, outer.current, await outer.get()]).toEqual([1, 20, 20]);
  });

  it('returns the same resolved promise while no source is replaced', async () => {
    const { a, b } = two();
    const sum = derive([a, b], (x, y) => x + y, silent);
    sum.current;
    const promise = sum.get();
    expect([sum.get(), await promise]).toEqual([promise, 11]);
    expect(sum.get()).toBe(promise);
    a.set(2);
    expect(sum.get()).not.toBe(promise);
    expect(await sum.get()).toBe(12);
  });

  it('reads its sources: a due one is reloaded behind the read', async () => {
    const { value, manual, clock } = await loadedManualValue();
    const derived = derive(value, (text) => text.toUpperCase(), silent);
    expect(derived.current).toBe('ONE');
    await clock.advance(1000);
    expect(await derived.get()).toBe('ONE');
    await clock.flush();
    manual.call(1).resolve('two');
    await clock.flush();
    expect(derived.current).toBe('TWO');
  });

  it('waits for first loads, which all start at once, and readers that wait share one computation', async () => {
    const [one, other] = [manualValue(), manualValue()];
    const compute = vi.fn((x: string, y: string) => x + y);
    const joined = derive([one.value, other.value], compute, silent);
    expect(thrownBy(() => joined.current)).toMatchObject({ code: 'NOT_LOADED' });
    const reads = [joined.get(), joined.get(), joined.get({ patience: 10 })];
    expect([one.manual.calls.length, other.manual.calls.length]).toEqual([1, 1]);
    other.manual.call(0).resolve('b');
    expect(await settled(reads[0] as Promise<string>)).toBe('pending');
    one.manual.call(0).resolve('a');
    expect(await Promise.all(reads)).toEqual(['ab', 'ab', 'ab']);
    expect(compute).toHaveBeenCalledOnce();
  });

  it('rejects and throws as a source does, and drops no rejection unhandled', async () => {
    const { value, manual } = manualValue({ whenFailing: 'throw' });
    const derived = derive(value, (text) => text, silent);
    void derived.get();
    const read = derived.get();
    manual.call(0).reject(new Error('down'));
    expect(await rejectionOf(read)).toMatchObject({ code: 'LOAD_FAILED' });
    expect(await rejectionOf(derived.get())).toMatchObject({ code: 'COOLING_DOWN' });
    value.set('set');
    expect([derived.current, await derived.get()]).toEqual(['set', 'set']);
  });

  it('answers a reader whose source was dropped while it waited', async () => {
    const { value, manual } = manualValue();
    const derived = derive(value, (text) => `${text}!`, silent);
    const read = derived.get();
    value.invalidate({ drop: true });
    manual.call(0).resolve('dropped');
    expect(await read).toBe('dropped!');
    expect(thrownBy(() => derived.current)).toMatchObject({ code: 'NOT_LOADED' });
  });

  it('passes the options of a read to its sources', async () => {
    const { value } = manualValue();
    const stop = new AbortController();
    const read = derive(value, (text) => text, silent).get({ signal: stop.signal });
    stop.abort(new Error('gone'));
    expect(await rejectionOf(read)).toMatchObject({ message: 'gone' });
  });
});

describe('the status of a derived value', () => {
  it('has the age of the oldest source, of what it was computed from', async () => {
    const { a, b, clock } = two();
    const sum = derive([a, b], (x, y) => x + y, silent);
    expect(sum.inspect()).toMatchObject({ state: 'empty', age: undefined, loadedAt: undefined });
    expect(sum.inspect()).not.toHaveProperty('value');
    a.set(1);
    await clock.advance(300);
    b.set(2);
    await clock.advance(200);
    expect(sum.current).toBe(3);
    const loadedAt = clock.now() - 500;
    expect(sum.inspect()).toMatchObject({ value: 3, state: 'fresh', age: 500, loadedAt, isStale: false });
    expect(sum.inspect({ values: false })).not.toHaveProperty('value');
    a.set(5);
    await clock.advance(100);
    // Not computed again: the result is of the old value.
    expect(sum.inspect()).toMatchObject({ value: 3, state: 'stale', age: 600 });
    sum.current;
    expect(sum.inspect()).toMatchObject({ value: 7, age: 300 });
    await clock.advance(700);
    expect(sum.inspect()).toMatchObject({ state: 'stale', isStale: true });
  });

  it('gets younger with a source that is kept, and is too stale with one that is', async () => {
    const answers: unknown[] = [1, keep()];
    const options = { maxStaleness: 1000, schedule: 500 };
    const { value, clock } = fakeValue<number>(() => answers.shift() as number, options);
    const twice = derive(
      derive(value, (one) => one, silent),
      (one) => 2 * one,
      silent,
    );
    twice.current;
    await clock.advance(400);
    await value.refresh();
    expect(twice.inspect()).toMatchObject({ age: 0, state: 'fresh' });
    await clock.advance(1001);
    expect(twice.inspect().state).toBe('too-stale');
  });
});

describe('a function that throws', () => {
  function failing(logger: ReturnType<typeof recordLines> | false = false) {
    const { a, clock } = two();
    const compute = vi.fn((one: number) => {
      if (one % 2 === 0) throw new Error(`even: ${one}`);
      return `odd: ${one}`;
    });
    return { a, clock, compute, derived: derive(a, compute, { logger }) };
  }

  it('keeps the last result, with its age, and is not called again for that version', async () => {
    const logger = recordLines();
    const { a, clock, compute, derived } = failing(logger);
    expect(derived.current).toBe('odd: 1');
    await clock.advance(10);
    a.set(2);
    expect([derived.current, await derived.get(), derived.current]).toEqual(['odd: 1', 'odd: 1', 'odd: 1']);
    expect(compute).toHaveBeenCalledTimes(2);
    expect(derived.inspect()).toMatchObject({ state: 'stale', age: 10, failures: 1, lastError: { code: 'LOAD_FAILED' } }); // biome-ignore format: short
    a.set(4);
    a.set(6);
    derived.current;
    expect(derived.inspect().failures).toBe(2);
    a.set(3);
    expect(derived.current).toBe('odd: 3');
    expect(derived.inspect()).toMatchObject({ state: 'fresh', failures: 0, lastError: undefined });
    await clock.flush();
    expect(logger.lines).toEqual([
      'warn tickless: derive(a): the function of derive() failed, the result of before stays: even: 2',
      expect.stringContaining('derive(a): derived again after'),
    ]);
  });

  it('without a result rejects each read with one error, until a source is replaced', async () => {
    const logger = recordLines();
    const { a, compute, derived } = failing(logger);
    a.set(2);
    const error = await rejectionOf(derived.get());
    expect(error).toMatchObject({
      code: 'LOAD_FAILED',
      member: 'derive(a)',
      message: 'derive(a): the function of derive() failed: even: 2',
      cause: new Error('even: 2'),
    });
    expect(await rejectionOf(derived.get())).toBe(error);
    expect(thrownBy(() => derived.current)).toBe(error);
    expect([compute.mock.calls.length, logger.lines]).toEqual([
      1,
      [expect.stringMatching(/derive\(a\): the function of derive\(\) failed, reads are refused: even: 2$/)],
    ]);
    a.set(1);
    expect(await derived.get()).toBe('odd: 1');
  });

  it('must not return a promise', () => {
    const { a } = two();
    const derived = derive(a, async () => { throw new Error('unhandled'); }, silent); // biome-ignore format: short
    const message = expect.stringContaining('returned a promise, and must be synchronous');
    expect(thrownBy(() => derived.current)).toMatchObject({ code: 'LOAD_FAILED', message });
  });

  it('may read the value that it computes, and replace its source', async () => {
    const { a } = two();
    let calls = 0;
    const derived: Derived<string> = derive(
      a,
      (one) => {
        calls += 1;
        void derived.get();
        if (one < 3) a.set(one + 1);
        return `${one} after ${derived.peek()}`;
      },
      silent,
    );
    expect([derived.current, await derived.get(), derived.current, calls]).toEqual(['1 after undefined', '2 after 1 after undefined', '3 after 2 after 1 after undefined', 3]); // biome-ignore format: short
    expect(await derived.get()).toBe(derived.current);
  });
});

it.each<[string, unknown, unknown, unknown]>([
  ['sources', 5, () => 1, {}],
  ['sources', [], () => 1, {}],
  ['sources', [{ get: () => 1 }], () => 1, {}],
  ['compute', 'value', 5, {}],
  ['name', 'value', () => 1, { name: '' }],
  ['logger', 'value', () => 1, { logger: {} }],
  ['clock', 'value', () => 1, { clock: {} }],
  ['nmae', 'value', () => 1, { nmae: 'x' }],
])('the arguments of derive() %s is checked', (option, source, compute, options) => {
  const value = new RefreshingValue({ name: 'v', load: () => 1 });
  const make = () =>
    derive((source === 'value' ? value : source) as never, compute as never, options as never);
  expect(thrownBy(make)).toMatchObject(ofOption(option));
});
