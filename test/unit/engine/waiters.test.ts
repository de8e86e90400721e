import { describe, expect, it } from 'vitest';
import { Waiters } from '../../../src/engine/waiters.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf, settled } from '../../support/settle.ts';

function make(): { waiters: Waiters<number>; held: () => number } {
  let held = 0;
  const load = {
    hasBegun: true,
    depart: () => {},
    hold: () => {
      held += 1;
    },
    release: () => {
      held -= 1;
    },
    end: () => {},
  };
  return { waiters: new Waiters(load), held: () => held };
}

describe('Waiters', () => {
  it('forgets who gives up, at once and whole', async () => {
    const { waiters, held } = make();
    const clock = new FakeClock();
    const controller = new AbortController();
    const impatient = Array.from({ length: 1000 }, () => waiters.nextWithin(50, clock, controller.signal));
    const leaving = Array.from({ length: 1000 }, () => rejectionOf(waiters.next(controller.signal)));
    expect([waiters.hasReaders, held(), clock.timerCount]).toEqual([true, 1, 1000]);
    await clock.advance(50);
    expect(await Promise.all(impatient)).toEqual(Array(1000).fill(undefined));
    controller.abort('gone');
    expect(new Set(await Promise.all(leaving))).toEqual(new Set(['gone']));
    expect([waiters.hasReaders, waiters.isHeld, held(), clock.timerCount]).toEqual([false, false, 0, 0]);
  });

  it('listens to a signal once, however many wait with it, and no longer than they do', async () => {
    const { waiters } = make();
    const clock = new FakeClock();
    const { signal } = new AbortController();
    let listening = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listening += args[0] === 'abort' ? 1 : 0;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listening -= args[0] === 'abort' ? 1 : 0;
      remove(...args);
    };
    const waits = [...Array(20)].map((_, index) =>
      index % 2 === 0 ? waiters.next(signal) : waiters.nextWithin(50, clock, signal),
    );
    expect(listening).toBe(1);
    waiters.resolve(7);
    expect(await Promise.all(waits)).toEqual(Array(20).fill(7));
    expect([listening, clock.timerCount]).toEqual([0, 0]);
  });

  it('one promise for all who can not leave; errors reach readers, an end is only an end', async () => {
    const { waiters, held } = make();
    const promise = waiters.next(undefined);
    expect(waiters.next(undefined)).toBe(promise);
    const end = waiters.end();
    const patient = waiters.nextWithin(Number.POSITIVE_INFINITY, new FakeClock(), undefined);
    expect(held()).toBe(1);
    const error = new Error('down');
    waiters.reject(error);
    expect([await rejectionOf(promise), await rejectionOf(patient), await end]).toEqual([
      error,
      error,
      undefined,
    ]);
  });

  it('a platform that waits for the end holds the process, but is no reader', async () => {
    const { waiters, held } = make();
    const end = waiters.end();
    expect([waiters.hasReaders, waiters.isHeld, held()]).toEqual([false, true, 1]);
    expect(await settled(end)).toBe('pending');
    waiters.resolve(7);
    await end;
  });

  it('follows from one load to the next', () => {
    const { waiters } = make();
    void waiters.next(undefined);
    let held = 0;
    const next = {
      hasBegun: true,
      depart: () => {},
      hold: () => void held++,
      release: () => void held--,
      end: () => {},
    };
    waiters.follow(next);
    expect(held).toBe(1);
    waiters.follow(undefined);
    expect(held).toBe(1);
  });

  it('holds no load that it follows while nobody waits', async () => {
    const { waiters, held } = make();
    waiters.follow({
      hasBegun: true,
      depart: () => {},
      hold: () => expect.fail('was held'),
      release: () => {},
      end: () => {},
    });
    expect([waiters.isHeld, held()]).toEqual([false, 0]);
  });

  it('who comes with a signal that is aborted already has left', async () => {
    const { waiters, held } = make();
    const signal = AbortSignal.abort('gone');
    expect(await rejectionOf(waiters.next(signal))).toBe('gone');
    expect([waiters.isHeld, held()]).toEqual([false, 0]);
  });

  it('infinite patience needs no timer', () => {
    const { waiters, held } = make();
    const clock = new FakeClock();
    void waiters.nextWithin(Infinity, clock, undefined);
    expect([clock.timerCount, held()]).toEqual([0, 1]);
  });
});
