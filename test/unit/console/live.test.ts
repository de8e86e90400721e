import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OverviewChanges } from '../../../src/console/changes.ts';
import { SentRows } from '../../../src/console/changes.ts';
import type { Overview } from '../../../src/console/overview.ts';
import type { MemberRow } from '../../../src/console/rows.ts';
import type { ShownEvent } from '../../../src/console/shown-event.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { BASE, TestConsole } from '../../support/console.ts';

interface Message {
  readonly type: string;
  readonly data: unknown;
}

/** Reads a stream of server-sent events. */
class Reader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = '';

  constructor({ body }: Response) {
    this.#reader = body!.getReader();
  }

  /** The next message of a type; `undefined`: the stream has ended. */
  async next(type: string): Promise<Message | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const [, is, data] = /^event: (\w+)\ndata: (.*)$/.exec(this.#text.slice(0, end)) ?? [];
        this.#text = this.#text.slice(end + 2);
        if (is === type) return { type: is, data: JSON.parse(data ?? '') };
        continue;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += new TextDecoder().decode(value);
    }
  }

  async overview(): Promise<OverviewChanges> {
    return (await this.next('overview'))?.data as OverviewChanges;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

function watched() {
  const group = new RefreshGroup({ logger: false, retry: false });
  const made = new TestConsole({ refreshEvery: 250 }, group);
  let isDown = false;
  const value = group.value({
    name: 'v',
    load: async () => {
      if (isDown) throw new Error('down');
      return 1;
    },
  });
  let listeners = 0;
  const { on } = group;
  group.on = ((...args: Parameters<typeof on>) => {
    const stop = on.apply(group, args);
    listeners += 1;
    return () => {
      listeners -= 1;
      stop();
    };
  }) as typeof on;
  const open = async (): Promise<Reader> =>
    new Reader(await made.handler(new Request(new URL('api/live', BASE))));
  const setDown = (is: boolean): void => {
    isDown = is;
  };
  return { made, group, value, open, setDown, listeners: () => listeners };
}

const closes: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closes.splice(0)) await close();
});

describe('a page that is open', () => {
  it('is sent all rows at first, then the one that changes, with the events of it', async () => {
    const { group, value, open, setDown } = watched();
    group.value({ name: 'other', load: () => 1 });
    const page = await open();
    closes.push(() => page.cancel());
    const first = await page.overview();
    expect([first.changed.length, first.order]).toEqual([2, ['v', 'other']]);
    setDown(true);
    await value.get().catch(() => {});
    let changes: OverviewChanges;
    do changes = await page.overview();
    while (changes.changed.length === 0);
    expect(changes.changed.map(({ id, level }) => [id, level])).toEqual([['v', 'warn']]);
    expect(changes.changed[0]?.here.error).toContain('down');
    const events = (await page.next('events'))?.data as ShownEvent[];
    expect(events.map(({ type, number }) => [number, type])).toEqual([
      [1, 'load-started'],
      [2, 'load-failed'],
      [3, 'cooling-down'],
    ]);
  });

  it('starts no load', async () => {
    const { value, open } = watched();
    const page = await open();
    closes.push(() => page.cancel());
    await page.overview();
    await page.overview();
    expect([value.peek(), value.inspect().running]).toEqual([undefined, false]);
  });

  it('alone holds listeners and a timer: none before the first, none after the last', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    const { made, open, listeners } = watched();
    await made.get('api/overview');
    await made.get('api/member?id=v');
    expect([listeners(), timers.mock.calls.length]).toEqual([0, 0]);
    const [one, other] = [await open(), await open()];
    await one.overview();
    await other.overview();
    const held = listeners();
    expect(held).toBeGreaterThan(10);
    await one.cancel();
    expect(listeners()).toBe(held);
    const before = timers.mock.calls.length;
    await other.cancel();
    expect(listeners()).toBe(0);
    const last = timers.mock.results.at(-1)?.value;
    await new Promise((resolve) => setImmediate(resolve));
    expect(cleared.mock.calls.some(([timer]) => timer === last)).toBe(true);
    expect(timers.mock.calls.length).toBe(before);
    timers.mockRestore();
    cleared.mockRestore();
  });

  it('is authorized anew after five minutes, since its stream ends', async () => {
    const { now } = performance;
    try {
      const { open } = watched();
      const page = await open();
      await page.overview();
      performance.now = () => now.call(performance) + 5 * 60_000;
      expect(await page.next('overview')).toBeUndefined();
    } finally {
      performance.now = now;
    }
  });

  it('that does not read has one turn waiting, and is sent what has changed when it has read that', async () => {
    const { made, group, value, open, setDown } = watched();
    for (let at = 0; at < 400; at++) group.value({ name: `${at} ${'x'.repeat(150)}`, load: () => 1 });
    const inspect = vi.spyOn(group, 'inspect');
    const turns = (count: number) => expect.poll(() => inspect.mock.calls.length).toBeGreaterThan(count);
    const page = await open();
    closes.push(() => made.handler.close());
    await turns(1); // the first one has sent more than 64 kB, which wait now
    setDown(true);
    await value.get().catch(() => {});
    await turns(inspect.mock.calls.length + 2);
    setDown(false);
    await value.refresh();
    await turns(inspect.mock.calls.length + 2);
    expect((await page.overview()).changed).toHaveLength(401);
    const { changed } = await page.overview();
    expect(changed.filter(({ id }) => id === 'v').map(({ here }) => here.failures)).toEqual([undefined]);
    const events = (await page.next('events'))?.data as ShownEvent[];
    expect(events.map(({ type }) => type)).toContain('load-failed');
  });

  it('that does not read when its stream is over has nothing kept for it', async () => {
    const { now } = performance;
    try {
      const { made, group, open } = watched();
      closes.push(() => made.handler.close());
      const inspect = vi.spyOn(group, 'inspect');
      const pages = await Promise.all(Array.from({ length: 10 }, open));
      await expect.poll(() => inspect.mock.calls.length).toBeGreaterThan(1);
      performance.now = () => now.call(performance) + 5 * 60_000;
      const status = async () => (await made.handler(new Request(new URL('api/live', BASE)))).status;
      await expect.poll(status).toBe(200);
      for (const page of pages) await expect(page.overview()).rejects.toThrow('does not read');
    } finally {
      performance.now = now;
    }
  });

  it('opens its stream again where a turn fails, which harms nothing else', async () => {
    const { made, group, open } = watched();
    vi.spyOn(group, 'inspect').mockImplementationOnce(() => {
      throw new Error('a fault');
    });
    const page = await open();
    expect(await page.next('overview')).toBeUndefined();
    const next = await open();
    closes.push(() => next.cancel());
    expect((await next.overview()).changed).toHaveLength(1);
    expect((await made.get('api/overview')).status).toBe(200);
  });

  it('ends with the console', async () => {
    const { made, open } = watched();
    const page = await open();
    await page.overview();
    await made.handler.close();
    expect(await page.next('overview')).toBeUndefined();
  });
});

describe('changes', () => {
  const row = (id: string, loadedAt: number, level: MemberRow['level'] = 'ok'): MemberRow => ({
    id,
    name: id,
    kind: 'value',
    level,
    problems: [],
    here: { state: 'fresh', loadedAt },
    cells: [{ on: 'a', loadedAt }],
  });
  const overview = (...members: MemberRow[]): Overview => ({
    at: 0,
    group: { name: 'g', paused: false, closed: false },
    ok: true,
    instances: [],
    members,
  });

  it('leave out rows whose times only jitter, also when that adds up', () => {
    const sent = new SentRows();
    sent.next(overview(row('a', 1000), row('b', 1000)));
    for (let jitter = 0; jitter < 1500; jitter += 100) {
      expect(sent.next(overview(row('a', 1000 + jitter), row('b', 1000))).changed).toEqual([]);
    }
    expect(sent.next(overview(row('a', 2600), row('b', 1000))).changed.map(({ id }) => id)).toEqual(['a']);
  });

  it('have the order only where it changes', () => {
    const sent = new SentRows();
    expect(sent.next(overview(row('a', 0), row('b', 0))).order).toEqual(['a', 'b']);
    expect(sent.next(overview(row('a', 0), row('b', 0))).order).toBeUndefined();
    expect(sent.next(overview(row('b', 0, 'bad'), row('a', 0))).order).toEqual(['b', 'a']);
    const { order, changed } = sent.next(overview(row('b', 0, 'bad')));
    expect([order, changed]).toEqual([['b'], []]);
  });
});
