import { afterEach, describe, expect, it, vi } from 'vitest';
import { Changes, type OverviewChanges } from '../../../src/console/changes.ts';
import * as redact from '../../../src/console/redact.ts';
import type { MemberRow } from '../../../src/console/rows.ts';
import type { ShownEvent } from '../../../src/console/shown-event.ts';
import { steadyRow } from '../../../src/console/steady-row.ts';
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
  const group = new RefreshGroup({ logger: false, retry: false, piggyback: false });
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
    expect(changes.changed.map(({ id, level }) => [id, level])).toEqual([['v', 'bad']]);
    expect(changes.changed[0]?.here.error).toContain('down');
    const events = (await page.next('events'))?.data as ShownEvent[];
    expect(events.map(({ number, type, outcome }) => [number, type, outcome])).toEqual([
      [1, 'load-started', undefined],
      [2, 'load-ended', 'failed'],
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
    expect(held).toBeGreaterThan(5);
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
    const inspect = vi.spyOn(group, 'inspect');
    const turns = (count: number) =>
      expect.poll(() => inspect.mock.calls.length, { timeout: 10_000 }).toBeGreaterThan(count);
    const page = await open();
    closes.push(() => made.handler.close());
    await turns(1); // the first one has sent the rows, which wait now
    setDown(true);
    await value.get().catch(() => {});
    await turns(inspect.mock.calls.length + 2);
    setDown(false);
    await value.refresh();
    await turns(inspect.mock.calls.length + 2);
    expect((await page.overview()).changed.map(({ here }) => here.state)).toEqual(['empty']);
    const { changed } = await page.overview();
    expect(changed.map(({ here }) => [here.state, here.failures])).toEqual([['fresh', undefined]]);
    const events = (await page.next('events'))?.data as ShownEvent[];
    expect(events.map(({ outcome }) => outcome)).toContain('failed');
  });

  it('that does not read when its stream is over has nothing kept for it', async () => {
    const { now } = performance;
    try {
      const { made, group, open } = watched();
      closes.push(() => made.handler.close());
      const inspect = vi.spyOn(group, 'inspect');
      const pages = await Promise.all(Array.from({ length: 10 }, open));
      await expect.poll(() => inspect.mock.calls.length).toBeGreaterThan(2); // all were sent the rows
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

describe('many pages', () => {
  /** A console with many members that fail, and pages of several operators. */
  function crowd(count: number) {
    const group = new RefreshGroup({ logger: false, retry: false, piggyback: false });
    const authorize = (request: Request): { by: string; actions: boolean } => {
      const by = request.headers.get('cookie') ?? 'ann';
      return { by, actions: by === 'ann' };
    };
    const made = new TestConsole({ refreshEvery: 250, actions: true, authorize }, group);
    const down = (at: number) =>
      new Error(`${at} is down: password=hunter2, see https://wiki.example/${'x'.repeat(200)}`);
    const members = Array.from({ length: count }, (_, at) =>
      group.value({ name: `member ${at}`, coolDown: '1m', load: () => Promise.reject(down(at)) }),
    );
    const open = async (by: string): Promise<Response> =>
      made.handler(new Request(new URL('api/live', BASE), { headers: { cookie: by } }));
    closes.push(
      () => made.handler.close(),
      () => group.close(),
    );
    const fail = (): Promise<unknown> => Promise.allSettled(members.map((member) => member.refresh()));
    return { group, made, members, open, fail };
  }

  it('share the rows: each is redacted once, also for a page that joins later, and only where it has changed', async () => {
    const { members, open, fail } = crowd(50);
    await fail();
    const redacted = vi.spyOn(redact, 'shownText');
    const serialised = vi.spyOn(redact, 'shownJson');
    const rows = (): number => serialised.mock.calls.filter(([data]) => 'cells' in (data as object)).length;
    const read = async (page: Reader): Promise<number> => (await page.overview()).changed.length;
    const pages = (await Promise.all(['ann', 'bob', 'cid', 'bob'].map(open))).map((one) => new Reader(one));
    expect(await Promise.all(pages.map(read))).toEqual([50, 50, 50, 50]);
    const texts = (): number => redacted.mock.calls.filter(([text]) => text.includes('is down')).length;
    expect([texts(), rows()]).toEqual([100, 50]); // the error and the problem of each
    expect(await Promise.all(pages.map(read))).toEqual([0, 0, 0, 0]);
    const late = new Reader(await open('dee'));
    expect(await read(late)).toBe(50);
    expect([texts(), rows()]).toEqual([100, 50]);
    await members[7]?.refresh().catch(() => {});
    const next = async (page: Reader): Promise<readonly string[]> => {
      for (;;) {
        const { changed } = await page.overview();
        if (changed.some(({ here }) => here.failures === 2)) return changed.map(({ name }) => name);
      }
    };
    expect(await Promise.all([...pages, late].map(next))).toEqual(
      Array.from({ length: 5 }, () => ['member 7']),
    );
    expect(rows()).toBeLessThanOrEqual(52); // it was running meanwhile, and failed
    vi.restoreAllMocks();
  });

  it('are sent the same, whatever their operators may do, and no credentials', async () => {
    const { open, fail } = crowd(3);
    await fail();
    const texts = await Promise.all(
      ['ann', 'bob'].map(async (by) => {
        const reader = (await open(by)).body!.getReader();
        let text = '';
        while (!text.includes('event: overview'))
          text += new TextDecoder().decode((await reader.read()).value);
        await reader.cancel();
        return text.replace(/"at":\d+/, '');
      }),
    );
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toContain('is down: password=[hidden]');
  });

  it('of other operators have a share of the streams, also where some operators have them all', async () => {
    const { open } = crowd(1);
    const status = async (by: string): Promise<number> => (await open(by)).status;
    const first = new Reader(await open('a0'));
    for (let by = 0; by < 10; by++) for (let at = 0; at < (by === 0 ? 9 : 10); at++) await open(`a${by}`);
    expect([await status('a1'), await status('new')]).toEqual([429, 200]);
    await expect(first.next('overview')).rejects.toThrow('does not read'); // the one that lost its place
    for (let at = 0; at < 8; at++) expect(await status('new')).toBe(200);
    expect([await status('new'), await status('newer')]).toEqual([429, 200]);
    expect(await status('a0')).toBe(429); // it has as many as the others
  });

  it('keep a page waiting that does not read for a while only, and its place is free then', async () => {
    vi.useFakeTimers();
    const { open } = crowd(1);
    const opened = Promise.all(Array.from({ length: 10 }, () => open('ann')));
    await vi.advanceTimersByTimeAsync(10);
    const pages = await opened;
    const reader = new Reader(pages[0] as Response);
    for (let at = 0; at < 60; at++) {
      await vi.advanceTimersByTimeAsync(250);
      await reader.overview();
    }
    expect((await open('ann')).status).toBe(200);
    await vi.advanceTimersByTimeAsync(250);
    await reader.overview();
    for (const page of pages.slice(1)) await expect(page.text()).rejects.toThrow('does not read');
  });

  it('that are opened together are answered in several turns of the event loop', async () => {
    const { open } = crowd(1);
    let turns = 0;
    const counted = setInterval(() => (turns += 1), 0);
    const answeredIn = await Promise.all(
      Array.from({ length: 100 }, async (_, at) => {
        expect((await open(`a${at % 10}`)).status).toBe(200);
        return turns;
      }),
    );
    clearInterval(counted);
    expect(new Set(answeredIn).size).toBeGreaterThan(5);
  });

  it('are refused once the console is closed, as all requests are', async () => {
    const { made, open } = crowd(1);
    const page = new Reader(await open('ann'));
    await page.overview();
    let permit = (): void => {};
    const slow = new TestConsole({
      authorize: () => new Promise((resolve) => (permit = () => resolve('ann'))),
    });
    const late = slow.handler(new Request(new URL('api/live', BASE)));
    await Promise.all([made.handler.close(), slow.handler.close()]);
    permit();
    expect([(await late).status, (await open('ann')).status]).toEqual([503, 503]);
    expect((await made.get('')).status).toBe(503);
    expect((await made.get('api/overview')).body.error.code).toBe('unavailable');
    const post = new Request(new URL('api/actions/refresh', BASE), { method: 'POST', body: '{}' });
    expect((await made.handler(post)).status).toBe(503);
    expect((await made.handler(new Request('http://admin.example/other'))).status).toBe(404);
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
  const ids = ({ changed }: Pick<OverviewChanges, 'changed'>): string[] => changed.map(({ id }) => id);

  it('leave out rows whose times only jitter, also when that adds up', () => {
    const first = row('a', 1000);
    let last = first;
    for (let jitter = 0; jitter < 1500; jitter += 100) last = steadyRow(last, row('a', 1000 + jitter));
    expect(last).toBe(first);
    expect(steadyRow(first, row('a', 2600))).toEqual(row('a', 2600));
    expect(steadyRow(first, row('a', 1100, 'bad'))).toEqual(row('a', 1000, 'bad'));
    expect(steadyRow(undefined, first)).toBe(first);
    const due = (jitter: number): MemberRow => {
      const pinned = { by: 'ann', until: 9000 + jitter };
      return { ...first, here: { ...first.here, nextAt: 5000 + jitter, pinned } };
    };
    const before = due(0);
    expect(steadyRow(before, due(1))).toBe(before);
    expect(steadyRow(before, due(2000))).toEqual(due(2000));
  });

  it('are those that a page has not seen, whatever others have', () => {
    const changes = new Changes();
    const [a, b] = [row('a', 0), row('b', 0)];
    changes.take([a, b]);
    const seen = changes.revision;
    expect([ids(changes.since(0)), changes.since(0).order]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    changes.take([a, b]);
    expect([changes.revision, ids(changes.since(seen))]).toEqual([seen, []]);
    changes.take([a, row('b', 2000)]);
    const later = changes.revision;
    changes.take([row('a', 2000), row('b', 4000)]);
    expect([ids(changes.since(seen)), ids(changes.since(later)), ids(changes.since(0))]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(ids(changes.since(changes.revision))).toEqual([]);
  });

  it('have the order only where it changes', () => {
    const changes = new Changes();
    const [a, b, bad] = [row('a', 0), row('b', 0), row('b', 0, 'bad')];
    const orders = (...members: MemberRow[]): (readonly string[] | undefined)[] => {
      const { revision } = changes;
      changes.take(members);
      return [changes.since(revision).order, changes.since(changes.revision).order];
    };
    expect(orders(a, b)).toEqual([['a', 'b'], undefined]);
    expect(orders(a, b)).toEqual([undefined, undefined]);
    expect(orders(bad, a)).toEqual([['b', 'a'], undefined]);
    expect(orders(bad)).toEqual([['b'], undefined]);
    expect(orders()).toEqual([[], undefined]);
    expect(new Changes().since(0)).toEqual({ changed: [] });
  });
});
