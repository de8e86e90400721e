import { describe, expect, it } from 'vitest';
import { DueQueue, type DueQueueOptions } from '../../../src/due/due-queue.ts';
import type { GroupSlot, Refreshable, StartOfOne } from '../../../src/group/membership.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { settled } from '../../support/settle.ts';

const MINUTE = 60_000;

/** A member that writes down what the pump does with it, and whose loads end when the test says so. */
class Stub implements Refreshable {
  readonly seat: GroupSlot;
  readonly name: string;
  readonly #story: string[];
  #ended: () => void = () => {};
  holds = 0;
  mayStart = true;
  /** Called in the midst of a start. */
  onStart: () => void = () => {};
  onCompare: () => void = () => {};

  constructor(pump: DueQueue, story: string[], name: string, from: number) {
    this.name = name;
    this.#story = story;
    this.seat = pump.join(this);
    this.seat.plan(from);
  }

  startNext({ ended }: StartOfOne): boolean {
    this.#story.push(`${this.mayStart ? 'start' : 'refuse'} ${this.name}`);
    if (!this.mayStart) return false;
    this.#ended = ended;
    this.seat.plan(Infinity);
    this.onStart();
    return true;
  }

  look(): void {
    this.#story.push(`look ${this.name}`);
  }

  hold(): void {
    this.holds += 1;
  }

  compareClocks(): void {
    this.#story.push(`compare ${this.name}`);
    this.onCompare();
  }

  /** Its load ends; it may be started again from then on. */
  end(next = Infinity): void {
    this.#story.push(`end ${this.name}`);
    this.seat.plan(next);
    this.#ended();
  }
}

interface Made {
  readonly clock: FakeClock;
  readonly pump: DueQueue;
  readonly story: string[];
  readonly member: (name: string, from: number) => Stub;
}

function make(options: Partial<DueQueueOptions> = {}): Made {
  const clock = new FakeClock();
  const pump = new DueQueue({ clock, concurrency: 2, lookAheadMs: 0, piggyback: false, ...options });
  const story: string[] = [];
  return { clock, pump, story, member: (name, from) => new Stub(pump, story, name, from) };
}

describe('a round of a DueQueue', () => {
  it('starts what is due, the soonest first, at most so many at a time, the next as one ends', async () => {
    const { clock, pump, story, member } = make();
    const [c, a, b] = [member('c', 30), member('a', 10), member('b', 20)];
    member('later', 101);
    await clock.advance(100);
    pump.request();
    expect([story.splice(0), pump.running]).toEqual([['start a', 'start b'], 2]);
    b.end();
    expect([story.splice(0), pump.running]).toEqual([['end b', 'start c'], 2]);
    a.end();
    c.end();
    expect([story, pump.running]).toEqual([['end a', 'end c'], 0]);
  });

  it('starts nothing before somebody asks', async () => {
    const { clock, story, member } = make();
    member('a', 0);
    await clock.advance(100);
    expect(story).toEqual([]);
  });

  it('never has more under way than it may, also when members ask in the midst of a start', () => {
    for (const concurrency of [1, 3, Infinity]) {
      const { pump, story, member } = make({ concurrency });
      const members = Array.from({ length: 10 }, (_, at) => member(`${at}`, -at));
      for (const one of members) {
        one.onStart = () => {
          pump.request();
          expect(pump.running).toBeLessThanOrEqual(concurrency);
        };
      }
      pump.request();
      expect([story.length, pump.running]).toEqual(Array(2).fill(Math.min(concurrency, 10)));
      for (const one of members.toReversed()) {
        one.end();
        expect(pump.running).toBeLessThanOrEqual(concurrency);
      }
      expect(story.filter((line) => line.startsWith('start'))).toHaveLength(10);
      expect(pump.running).toBe(0);
    }
  });

  it('ends by itself: what falls due while it goes on waits for the next request', async () => {
    const { clock, pump, story, member } = make({ concurrency: 1 });
    const a = member('a', 0);
    const b = member('b', 5);
    pump.request();
    await clock.advance(50);
    a.end(clock.monotonic());
    expect([story.splice(0), pump.running]).toEqual([['start a', 'end a'], 0]);
    pump.request();
    b.end(60);
    a.end(60);
    expect(story).toEqual(['start b', 'end b', 'start a', 'end a']);
  });

  it('does not start again who asks for it after the round, though the clock stands still: the next does', () => {
    const { pump, story, member } = make();
    const a = member('a', -5);
    pump.request();
    a.end(Math.max(-5, a.seat.afterRound()));
    expect(story.splice(0)).toEqual(['start a', 'end a']);
    pump.request();
    expect(story).toEqual(['start a']);
  });

  it('takes in what is due at a request that comes while it goes on', async () => {
    const { clock, pump, story, member } = make({ concurrency: 1 });
    const a = member('a', 0);
    member('b', 10);
    pump.request();
    await clock.advance(10);
    pump.request();
    expect(story).toEqual(['start a']);
    a.end();
    expect(story).toEqual(['start a', 'end a', 'start b']);
  });

  it('passes over a member that can not start, until that plans anew', () => {
    const { pump, story, member } = make();
    const a = member('a', 0); // just due
    a.mayStart = false;
    const b = member('b', 0);
    pump.request();
    expect(story.splice(0)).toEqual(['refuse a', 'start b']);
    b.end();
    pump.request();
    expect([story.splice(0), pump.running]).toEqual([['end b'], 0]);
    a.mayStart = true;
    a.seat.plan(-2);
    pump.request();
    expect(story).toEqual(['start a']);
  });
});

describe('a member that finds, when it is to start, that it is not due yet', () => {
  it('is started in the round in which it is', async () => {
    const { clock, pump, story, member } = make();
    const a = member('a', 0);
    a.mayStart = false;
    const refuse = a.startNext.bind(a);
    a.startNext = (start) => {
      a.seat.plan(Math.max(10, clock.monotonic()));
      return refuse(start);
    };
    pump.request();
    await clock.advance(10);
    a.mayStart = true;
    pump.request();
    expect([story, pump.running]).toEqual([['refuse a', 'start a'], 1]);
  });
});

describe('the promise of a round', () => {
  it('resolves when all have ended that were due, also those that waited for their turn', async () => {
    const { pump, member } = make({ concurrency: 1 });
    const [a, b] = [member('a', -2), member('b', -1)];
    const ends = [pump.requestAndHold(), pump.requestAndHold()];
    a.end();
    for (const end of ends) expect(await settled(end)).toBe('pending');
    b.end();
    for (const end of ends) expect(await settled(end)).toEqual({ value: undefined });
    expect([a.holds > 0, b.holds > 0]).toEqual([true, true]);
  });

  it('does not wait for what fell due after its request', async () => {
    const { clock, pump, member } = make();
    const [a, b] = [member('a', 0), member('b', 5)];
    const first = pump.requestAndHold();
    await clock.advance(5);
    const second = pump.requestAndHold();
    expect(pump.running).toBe(2);
    a.end();
    expect([await settled(first), await settled(second)]).toEqual([{ value: undefined }, 'pending']);
    b.end();
    expect(await settled(second)).toEqual({ value: undefined });
  });

  it('resolves at once where nothing is due', async () => {
    const { pump, member } = make();
    member('later', 10);
    expect(await settled(pump.requestAndHold())).toEqual({ value: undefined });
  });

  it('is of that round alone: the next does not hold the process', async () => {
    const { pump, member } = make();
    const a = member('a', -1);
    const first = pump.requestAndHold();
    a.end();
    expect(await settled(first)).toEqual({ value: undefined });
    const { holds } = a;
    a.seat.plan(-1);
    pump.request();
    expect(a.holds).toBe(holds);
  });
});

describe('a seat', () => {
  it('that was left is not started, frees its slot when its load ends, and has no say in who comes next', () => {
    const { pump, story, member } = make();
    const a = member('a', -2);
    const b = member('b', -1);
    b.seat.leave();
    pump.request();
    a.seat.leave();
    a.seat.leave();
    const [c, d] = [member('c', 100), member('d', 100)];
    a.seat.plan(-10);
    b.seat.plan(-10);
    pump.request();
    expect([story.splice(0), pump.running]).toEqual([['start a'], 1]);
    a.end(-10);
    expect([story.splice(0), pump.running]).toEqual([['end a'], 0]);
    c.seat.plan(-1);
    d.seat.plan(-2);
    pump.request();
    expect(story).toEqual(['start d', 'start c']);
  });

  it('that was left is not looked at', () => {
    const { pump, story, member } = make();
    const [a, b] = [member('a', 10), member('b', 10)];
    a.seat.markUnseen();
    b.seat.markUnseen();
    a.seat.leave();
    a.seat.markUnseen();
    pump.request();
    pump.request();
    expect(story).toEqual(['look b']);
  });

  it('tells how far ahead a member may be started', () => {
    const { pump, member } = make({ lookAheadMs: 1234 });
    const { seat } = member('a', 0);
    expect([seat.lookAheadMs, seat.door]).toEqual([1234, pump]);
  });
});

describe('a closed DueQueue', () => {
  it('has no read look further', () => {
    const { pump, member } = make({ piggyback: true });
    member('a', 10);
    expect(pump.readsFrom).toBe(10);
    pump.close();
    expect(pump.readsFrom).toBe(Infinity);
  });

  it('starts nothing, lets what runs end, and keeps its promise then', async () => {
    const { pump, story, member } = make({ concurrency: 1, piggyback: true });
    const a = member('a', -2);
    member('b', -1);
    const end = pump.requestAndHold();
    pump.close();
    pump.read();
    expect(await settled(end)).toBe('pending');
    a.end(-1);
    expect(await settled(end)).toEqual({ value: undefined });
    expect([story, pump.readsFrom]).toEqual([['start a', 'end a'], Infinity]);
    expect(await settled(pump.requestAndHold())).toEqual({ value: undefined });
    expect(story).toHaveLength(2);
  });
});

describe('the instant from which reads look further', () => {
  it('is never, without piggyback', () => {
    const { pump, member } = make();
    member('a', -1);
    expect(pump.readsFrom).toBe(Infinity);
  });

  it('is the soonest due time, but no more than a minute after the last look at the clocks', async () => {
    const { clock, pump, member } = make({ piggyback: true });
    const a = member('a', 90_000);
    expect(pump.readsFrom).toBe(MINUTE);
    const b = member('b', 40);
    expect(pump.readsFrom).toBe(40);
    b.seat.plan(50);
    expect(pump.readsFrom).toBe(50);
    b.seat.plan(Infinity);
    await clock.advance(MINUTE);
    pump.read();
    await clock.flush(); // a read begins its round behind the reader
    expect(pump.readsFrom).toBe(90_000);
    a.seat.leave();
    expect(pump.readsFrom).toBe(2 * MINUTE);
  });

  it('is never while a round is about to begin: a burst of reads begins one', async () => {
    const { clock, pump, story, member } = make({ piggyback: true });
    member('a', 10);
    await clock.advance(10);
    pump.read();
    expect([story, pump.readsFrom]).toEqual([[], Infinity]);
    pump.read();
    await clock.flush();
    expect([story, pump.until]).toEqual([['start a'], 10]);
  });

  it('is never while it has no slot free, and the soonest due time again once it has', async () => {
    const { clock, pump, story, member } = make({ piggyback: true, concurrency: 1 });
    const a = member('a', 10);
    await clock.advance(10);
    pump.read();
    await clock.flush(); // a read begins its round behind the reader
    expect(story).toEqual(['start a']);
    member('b', 5);
    expect(pump.readsFrom).toBe(Infinity);
    a.end(30);
    expect([story.at(-1), pump.readsFrom]).toEqual(['start b', Infinity]);
  });
});

describe('a wall clock that is stepped', () => {
  it('makes all members compare the clocks once, at the first request after a minute', async () => {
    const { clock, pump, story, member } = make({ piggyback: true });
    member('a', 1e9);
    member('gone', 1e9).seat.leave();
    member('b', 1e9);
    member('gone too', 1e9).seat.leave();
    clock.stepWall({ hours: -3 });
    await clock.advance(MINUTE - 1);
    pump.request();
    expect(story).toEqual([]);
    await clock.advance(1);
    expect(pump.readsFrom).toBe(MINUTE);
    pump.read();
    await clock.flush(); // a read begins its round behind the reader
    expect(story.splice(0).sort()).toEqual(['compare a', 'compare b']);
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(MINUTE);
      pump.request();
    }
    expect(story).toEqual([]);
  });

  it('by up to a second is none, but what adds up is', async () => {
    const { clock, pump, story, member } = make();
    member('a', 1e9);
    for (const told of [[], ['compare a'], [], ['compare a']]) {
      clock.stepWall(900);
      await clock.advance(MINUTE);
      pump.request();
      expect(story.splice(0)).toEqual(told);
    }
  });

  it('has its due times computed anew before anything is started by the old ones', async () => {
    const { clock, pump, story, member } = make();
    const [early, late] = [member('early', 1e9), member('late', 10)];
    early.onCompare = () => early.seat.plan(20);
    late.onCompare = () => late.seat.plan(1e9);
    clock.stepWall({ hours: 1 });
    await clock.advance(MINUTE);
    pump.request();
    expect(story).toEqual(['compare early', 'compare late', 'start early']);
  });
});
