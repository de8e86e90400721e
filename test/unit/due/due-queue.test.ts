import { describe, expect, it } from 'vitest';
import { DueQueue, type DueQueueOptions } from '../../../src/due/due-queue.ts';
import type { GroupSlot, Refreshable, StartOfOne } from '../../../src/due/refreshable.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { settled } from '../../support/settle.ts';

const MINUTE = 60_000;

/** A member that records what the queue does with it, and whose loads end when the test ends them. */
class Stub implements Refreshable {
  readonly slot: GroupSlot;
  readonly name: string;
  readonly #story: string[];
  #ended: () => void = () => {};
  keptAlive = 0;
  mayStart = true;
  /** Called during a start. */
  onStart: () => void = () => {};
  onCompare: () => void = () => {};

  constructor(queue: DueQueue, story: string[], name: string, from: number) {
    this.name = name;
    this.#story = story;
    this.slot = queue.join(this);
    this.slot.plan(from);
  }

  startNext({ ended }: StartOfOne): boolean {
    this.#story.push(`${this.mayStart ? 'start' : 'refuse'} ${this.name}`);
    if (!this.mayStart) return false;
    this.#ended = ended;
    this.slot.plan(Infinity);
    this.onStart();
    return true;
  }

  rescan(): void {
    this.#story.push(`rescan ${this.name}`);
  }

  keepAlive(): void {
    this.keptAlive += 1;
  }

  compareClocks(): void {
    this.#story.push(`compare ${this.name}`);
    this.onCompare();
  }

  /** Its load ends; the next one may start at `next`. */
  end(next = Infinity): void {
    this.#story.push(`end ${this.name}`);
    this.slot.plan(next);
    this.#ended();
  }
}

interface Made {
  readonly clock: FakeClock;
  readonly queue: DueQueue;
  readonly story: string[];
  readonly member: (name: string, from: number) => Stub;
}

function make(options: Partial<DueQueueOptions> = {}): Made {
  const clock = new FakeClock();
  const queue = new DueQueue({ clock, concurrency: 2, piggyback: false, ...options });
  const story: string[] = [];
  return { clock, queue, story, member: (name, from) => new Stub(queue, story, name, from) };
}

describe('a pass of a DueQueue', () => {
  it('never exceeds its concurrency, also when members request a pass during a start', () => {
    for (const concurrency of [1, 3, Infinity]) {
      const { queue, story, member } = make({ concurrency });
      const members = Array.from({ length: 10 }, (_, at) => member(`${at}`, -at));
      for (const one of members) {
        one.onStart = () => {
          queue.request();
          expect(queue.running).toBeLessThanOrEqual(concurrency);
        };
      }
      queue.request();
      expect([story.length, queue.running]).toEqual(Array(2).fill(Math.min(concurrency, 10)));
      for (const one of members.toReversed()) {
        one.end();
        expect(queue.running).toBeLessThanOrEqual(concurrency);
      }
      expect(story.filter((line) => line.startsWith('start'))).toHaveLength(10);
      expect(queue.running).toBe(0);
    }
  });

  it('ends by itself: a member that falls due meanwhile waits for the next request', async () => {
    const { clock, queue, story, member } = make({ concurrency: 1 });
    const a = member('a', 0);
    const b = member('b', 5);
    queue.request();
    await clock.advance(50);
    a.end(clock.monotonic());
    expect([story.splice(0), queue.running]).toEqual([['start a', 'end a'], 0]);
    queue.request();
    b.end(60);
    a.end(60);
    expect(story).toEqual(['start b', 'end b', 'start a', 'end a']);
  });

  it('starts a member once, though it is due again and the clock has not moved; the next pass starts it again', () => {
    const { queue, story, member } = make();
    const a = member('a', -5);
    queue.request();
    a.end(Math.max(-5, a.slot.afterPass()));
    expect(story.splice(0)).toEqual(['start a', 'end a']);
    queue.request();
    expect(story).toEqual(['start a']);
  });

  it('includes what is due at a request during the pass', async () => {
    const { clock, queue, story, member } = make({ concurrency: 1 });
    const a = member('a', 0);
    member('b', 10);
    queue.request();
    await clock.advance(10);
    queue.request();
    expect(story).toEqual(['start a']);
    a.end();
    expect(story).toEqual(['start a', 'end a', 'start b']);
  });

  it('skips a member that can not start, until that plans its slot anew', () => {
    const { queue, story, member } = make();
    const a = member('a', 0); // just due
    a.mayStart = false;
    const b = member('b', 0);
    queue.request();
    expect(story.splice(0)).toEqual(['refuse a', 'start b']);
    b.end();
    queue.request();
    expect([story.splice(0), queue.running]).toEqual([['end b'], 0]);
    a.mayStart = true;
    a.slot.plan(-2);
    queue.request();
    expect(story).toEqual(['start a']);
  });
});

describe('the promise of requestAndWait', () => {
  it('ends with its pass: the next one does not keep the process alive', async () => {
    const { queue, member } = make();
    const a = member('a', -1);
    const first = queue.requestAndWait();
    a.end();
    expect(await settled(first)).toEqual({ value: undefined });
    const { keptAlive } = a;
    a.slot.plan(-1);
    queue.request();
    expect(a.keptAlive).toBe(keptAlive);
  });
});

describe('a slot', () => {
  it('that was given back is not started, ends its load, and does not affect its next owner', () => {
    const { queue, story, member } = make();
    const a = member('a', -2);
    const b = member('b', -1);
    b.slot.leave();
    queue.request();
    a.slot.leave();
    a.slot.leave();
    const [c, d] = [member('c', 100), member('d', 100)];
    a.slot.plan(-10);
    b.slot.plan(-10);
    queue.request();
    expect([story.splice(0), queue.running]).toEqual([['start a'], 1]);
    a.end(-10);
    expect([story.splice(0), queue.running]).toEqual([['end a'], 0]);
    c.slot.plan(-1);
    d.slot.plan(-2);
    queue.request();
    expect(story).toEqual(['start d', 'start c']);
  });

  it('that was given back is not rescanned', () => {
    const { queue, story, member } = make();
    const [a, b] = [member('a', 10), member('b', 10)];
    a.slot.markUnscanned();
    b.slot.markUnscanned();
    a.slot.leave();
    a.slot.markUnscanned();
    queue.request();
    queue.request();
    expect(story).toEqual(['rescan b']);
  });
});

describe('readsFrom', () => {
  it('is the soonest due time, at most a minute after the clocks were compared', async () => {
    const { clock, queue, member } = make({ piggyback: true });
    const a = member('a', 90_000);
    expect(queue.piggyback.readsFrom).toBe(MINUTE);
    const b = member('b', 40);
    expect(queue.piggyback.readsFrom).toBe(40);
    b.slot.plan(50);
    expect(queue.piggyback.readsFrom).toBe(50);
    b.slot.plan(Infinity);
    await clock.advance(MINUTE);
    queue.read();
    await clock.flush(); // a read begins its pass behind the reader
    expect(queue.piggyback.readsFrom).toBe(90_000);
    a.slot.leave();
    expect(queue.piggyback.readsFrom).toBe(2 * MINUTE);
  });

  it('is never while a pass is about to begin: a burst of reads begins one', async () => {
    const { clock, queue, story, member } = make({ piggyback: true });
    member('a', 10);
    await clock.advance(10);
    queue.read();
    expect([story, queue.piggyback.readsFrom]).toEqual([[], Infinity]);
    queue.read();
    await clock.flush();
    expect([story, queue.until]).toEqual([['start a'], 10]);
  });

  it('is never while `concurrency` loads are under way', async () => {
    const { clock, queue, story, member } = make({ piggyback: true, concurrency: 1 });
    const a = member('a', 10);
    await clock.advance(10);
    queue.read();
    await clock.flush(); // a read begins its pass behind the reader
    expect(story).toEqual(['start a']);
    member('b', 5);
    expect(queue.piggyback.readsFrom).toBe(Infinity);
    a.end(30);
    expect([story.at(-1), queue.piggyback.readsFrom]).toEqual(['start b', Infinity]);
  });
});

describe('a step of the wall clock', () => {
  it('makes all members compare the clocks once, at the first request after a minute', async () => {
    const { clock, queue, story, member } = make({ piggyback: true });
    member('a', 1e9);
    member('gone', 1e9).slot.leave();
    member('b', 1e9);
    member('gone too', 1e9).slot.leave();
    clock.stepWall({ hours: -3 });
    await clock.advance(MINUTE - 1);
    queue.request();
    expect(story).toEqual([]);
    await clock.advance(1);
    expect(queue.piggyback.readsFrom).toBe(MINUTE);
    queue.read();
    await clock.flush(); // a read begins its pass behind the reader
    expect(story.splice(0).sort()).toEqual(['compare a', 'compare b']);
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(MINUTE);
      queue.request();
    }
    expect(story).toEqual([]);
  });

  it('of up to a second is ignored until such steps add up', async () => {
    const { clock, queue, story, member } = make();
    member('a', 1e9);
    for (const lines of [[], ['compare a'], [], ['compare a']]) {
      clock.stepWall(900);
      await clock.advance(MINUTE);
      queue.request();
      expect(story.splice(0)).toEqual(lines);
    }
  });

  it('has the due times computed anew before any load starts', async () => {
    const { clock, queue, story, member } = make();
    const [early, late] = [member('early', 1e9), member('late', 10)];
    early.onCompare = () => early.slot.plan(20);
    late.onCompare = () => late.slot.plan(1e9);
    clock.stepWall({ hours: 1 });
    await clock.advance(MINUTE);
    queue.request();
    expect(story).toEqual(['compare early', 'compare late', 'start early']);
  });
});
