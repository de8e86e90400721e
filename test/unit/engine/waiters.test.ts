import { describe, expect, it } from 'vitest';
import { Waiters } from '../../../src/engine/waiters.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf, settled } from '../../support/settle.ts';
import { countListeners, handleOf } from './support.ts';

/** A load that counts its references. */
function makeLoad() {
  let count = 0;
  const load = handleOf({ ref: () => void count++, unref: () => void count-- });
  return { load, refs: () => count };
}

function make() {
  const { load, refs } = makeLoad();
  return { waiters: new Waiters<number>(load), refs, clock: new FakeClock() };
}

describe('Waiters', () => {
  it('forgets a waiter that gives up, at once and entirely', async () => {
    const { waiters, refs, clock } = make();
    const controller = new AbortController();
    const impatient = Array.from({ length: 1000 }, () => waiters.nextWithin(50, clock, controller.signal));
    const leaving = Array.from({ length: 1000 }, () => rejectionOf(waiters.next(controller.signal)));
    expect([waiters.hasReaders, refs(), clock.timerCount]).toEqual([true, 1, 1000]);
    await clock.advance(50);
    expect(await Promise.all(impatient)).toEqual(Array(1000).fill(undefined));
    controller.abort('gone');
    expect(new Set(await Promise.all(leaving))).toEqual(new Set(['gone']));
    expect([waiters.hasReaders, waiters.keepsAlive, refs(), clock.timerCount]).toEqual([false, false, 0, 0]);
  });

  it('listens to a signal once, however many wait with it, and no longer than they do', async () => {
    const { waiters, clock } = make();
    const { signal } = new AbortController();
    const listeners = countListeners(signal);
    const waits = [...Array(20)].map((_, index) =>
      index % 2 === 0 ? waiters.next(signal) : waiters.nextWithin(50, clock, signal),
    );
    expect(listeners()).toBe(1);
    waiters.resolve(7);
    expect(await Promise.all(waits)).toEqual(Array(20).fill(7));
    expect([listeners(), clock.timerCount]).toEqual([0, 0]);
  });

  it('shares one promise between waiters that can not leave; errors reach readers, not those that wait for the end', async () => {
    const { waiters, refs, clock } = make();
    const promise = waiters.next(undefined);
    expect(waiters.next(undefined)).toBe(promise);
    const end = waiters.end();
    const patient = waiters.nextWithin(Number.POSITIVE_INFINITY, clock, undefined);
    expect([refs(), clock.timerCount]).toEqual([1, 0]); // infinite patience needs no timer
    const error = new Error('down');
    waiters.reject(error);
    expect([await rejectionOf(promise), await rejectionOf(patient)]).toEqual([error, error]);
    expect(await end).toBe(undefined);
  });

  it('a platform that waits for the end keeps the process alive, but is not a reader', async () => {
    const { waiters, refs } = make();
    const end = waiters.end();
    expect([waiters.hasReaders, waiters.keepsAlive, refs()]).toEqual([false, true, 1]);
    expect(await settled(end)).toBe('pending');
    waiters.resolve(7);
    await end;
  });

  it('refs the load that they follow next, if a caller waits', () => {
    const { waiters } = make();
    const [unawaited, awaited] = [makeLoad(), makeLoad()];
    waiters.follow(unawaited.load);
    void waiters.next(undefined);
    waiters.follow(awaited.load);
    expect([unawaited.refs(), awaited.refs()]).toEqual([0, 1]);
    waiters.follow(undefined);
    expect(awaited.refs()).toBe(0);
    const { waiters: none } = make();
    none.follow(handleOf({ ref: () => expect.fail('was kept alive') }));
    expect(none.keepsAlive).toBe(false);
  });

  it('a waiter whose signal is aborted already leaves at once', async () => {
    const { waiters, refs } = make();
    expect(await rejectionOf(waiters.next(AbortSignal.abort('gone')))).toBe('gone');
    expect([waiters.keepsAlive, refs()]).toEqual([false, 0]);
  });
});
