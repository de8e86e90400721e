import { describe, expect, expectTypeOf, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { shrinksAtMost } from '../../../src/guards/index.ts';
import {
  type Accept,
  keep,
  type LoadContext,
  loaded,
  RefreshingValue,
  type ValueOptions,
} from '../../../src/index.ts';
import { type FirstOfOptions, firstOf, mergeOf, type Source } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Editions } from '../../support/editions.ts';
import { fakeCache } from '../../support/fake-cache.ts';
import { optionsIn } from '../../support/option-errors.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const PERIOD_MS = 600_000;

class Setup {
  readonly clock = new FakeClock({ now: NOON });
  readonly primary = new Editions('primary', NOON - 1000);
  readonly backup = new Editions('backup', NOON - 1000);
  readonly source: Source<string>;

  constructor(options: Partial<FirstOfOptions<string>> = {}, sources?: Source<string>[]) {
    const [first, ...others] = sources ?? [this.primary.source, this.backup.source];
    const { clock } = this;
    this.source = firstOf(first as Source<string>, ...others, { clock, random: () => 0, ...options });
  }

  member(own: Partial<ValueOptions<string>> = {}): RefreshingValue<string> {
    const { clock, source: load } = this;
    const random = (): number => 0;
    const quiet = { name: 'prices', retry: false, logger: false } as const;
    return new RefreshingValue({ ...quiet, load, schedule: PERIOD_MS, clock, random, ...own });
  }

  /** In how many milliseconds the value is due. */
  dueIn(member: RefreshingValue<string>): number {
    return member.inspect().nextExecuteTime - this.clock.now();
  }
}

describe('firstOf', () => {
  it('answers with the first source, and asks no other', async () => {
    const setup = new Setup();
    const member = setup.member();
    expect(await member.get()).toBe('primary 1');
    expect(setup.backup.calls).toBe(0);
    expect(member.inspect().meta).toEqual({
      source: 'primary',
      editedAt: NOON - 1000,
      edition: 1,
      firstOf: { index: 0 },
    });
    expect(setup.dueIn(member)).toBe(PERIOD_MS);
  });

  it('answers with the next one where that fails, and says so in inspect()', async () => {
    const setup = new Setup();
    setup.primary.down();
    const member = setup.member();
    expect(await member.get()).toBe('backup 1');
    const meta = {
      source: 'backup',
      editedAt: NOON - 1000,
      edition: 1,
      firstOf: { index: 1, inARow: 1, since: NOON, failures: ['primary is down'] },
    };
    expect(member.inspect().meta).toEqual(meta);
  });

  it('takes plain loads, also synchronous ones', async () => {
    const setup = new Setup();
    const fails = (): string => {
      throw new TypeError('down');
    };
    const { clock } = setup;
    const member = new RefreshingValue({ name: 'x', clock, load: firstOf(fails, () => 'plain', { clock }) });
    expect(await member.get()).toBe('plain');
    expect(member.inspect().meta).toEqual({
      firstOf: { index: 1, inARow: 1, since: NOON, failures: ['down'] },
    });
  });

  it('gives each source only a value of its own, with its own notes', async () => {
    const setup = new Setup({ allowOlderAfter: 0 });
    const { primary, backup } = setup;
    const member = setup.member();
    await member.get();
    primary.down();
    await member.refresh(); // the value in place is the primary's
    await member.refresh(); // and now the backup's
    primary.up();
    await member.refresh();
    await member.refresh();
    expect(primary.contexts.map(({ previous }) => previous)).toEqual([
      undefined,
      { value: 'primary 1', loadedAt: NOON, meta: { source: 'primary', editedAt: NOON - 1000, edition: 1 } },
      undefined,
      undefined,
      { value: 'primary 1', loadedAt: NOON, meta: { source: 'primary', editedAt: NOON - 1000, edition: 1 } },
    ]);
    expect(backup.contexts.map(({ previous }) => previous)).toEqual([
      undefined,
      { value: 'backup 1', loadedAt: NOON, meta: { source: 'backup', editedAt: NOON - 1000, edition: 1 } },
    ]);
  });

  it('passes on the context of the load', async () => {
    const contexts: LoadContext<never>[] = [];
    const load = firstOf((context) => {
      contexts.push(context);
      return 1;
    });
    await new RefreshingValue({ name: 'x', load, backend: memoryBackend() }).get();
    expect(contexts).toMatchObject([{ attempt: 1, trigger: 'first', background: false }]);
    expect(contexts[0]?.token).toBeGreaterThan(0);
  });

  it('gives no source a value of `initial` or `set`, and lets a backup replace it', async () => {
    const setup = new Setup();
    setup.primary.down();
    setup.backup.editedAt = undefined;
    const member = setup.member({ initial: { value: 'shipped', loadedAt: NOON } });
    expect(await member.refresh()).toBe('backup 1');
    await member.set('by hand');
    expect(await member.refresh()).toBe('backup 1');
    expect(setup.backup.contexts.map(({ previous }) => previous)).toEqual([undefined, undefined]);
  });
});

describe('a value of a backup is due at the cool-down', () => {
  it('which grows with each answer that is not the first one, until that answers', async () => {
    const setup = new Setup();
    const { primary, clock } = setup;
    primary.down();
    const member = setup.member();
    await member.get();
    const waited: number[] = [];
    for (let round = 0; round < 9; round++) {
      waited.push(setup.dueIn(member));
      await clock.advance(setup.dueIn(member));
      void member.current;
      await clock.flush();
    }
    expect(waited).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(member.inspect().meta?.firstOf).toMatchObject({ inARow: 10 });

    primary.up();
    await clock.advance(setup.dueIn(member));
    void member.current;
    await clock.flush();
    expect(member.current).toBe('primary 1');
    expect(setup.dueIn(member)).toBe(PERIOD_MS);
    primary.down();
    setup.backup.edition = 2;
    expect(await member.refresh()).toBe('backup 2');
    expect(member.inspect().meta?.firstOf).toMatchObject({ inARow: 1 });
    expect(setup.dueIn(member)).toBe(500);
  });

  it('of its option', async () => {
    const setup = new Setup({ coolDown: { initial: '10s', factor: 3, max: '20s' }, random: () => 0.5 });
    setup.primary.down();
    const member = setup.member();
    await member.get();
    expect(setup.dueIn(member)).toBe(7500);
    await member.refresh();
    expect(setup.dueIn(member)).toBe(15_000);
  });

  it('counts on in another instance that adopts it', async () => {
    const setup = new Setup();
    const { clock } = setup;
    setup.primary.down();
    const backend = memoryBackend({ clock });
    const first = setup.member({ backend });
    await first.get();
    await first.refresh();
    await clock.flush();
    const second = setup.member({ backend });
    expect(await second.get()).toBe('backup 1');
    expect(second.inspect()).toMatchObject({ meta: { firstOf: { inARow: 2 } } });
    expect(setup.dueIn(second)).toBeLessThan(1100); // it looks for the next snapshot a moment after it
    expect(setup.backup.calls).toBe(2);
    await second.refresh();
    expect(setup.dueIn(second)).toBe(2000);
    expect(setup.backup.contexts.at(-1)?.previous?.meta).toMatchObject({ source: 'backup', edition: 1 });
  });

  it.each([
    ['80ms', 80],
    ['1h', 500],
  ])('or before, where the source says after how long: %s', async (dueAfter, expected) => {
    const down = () => Promise.reject(new Error('down'));
    const setup = new Setup({}, [down, async () => loaded('x', { dueAfter })]);
    const member = setup.member();
    await member.get();
    expect(setup.dueIn(member)).toBe(expected);
  });

  it('at least the Retry-After of the sources that have failed', async () => {
    const setup = new Setup();
    setup.primary.down(Object.assign(new Error('busy'), { headers: { 'retry-after': '40' } }));
    const member = setup.member();
    await member.get();
    expect(setup.dueIn(member)).toBe(40_000);
  });

  it('counted from when it is in place, after the guards of the member', async () => {
    const setup = new Setup();
    setup.primary.down();
    const { clock } = setup;
    const slow = (): Promise<boolean> =>
      new Promise((resolve) => void clock.setTimeout(() => resolve(true), 5000));
    const member = setup.member({ accept: slow });
    const first = member.get();
    await clock.advance(5000);
    await first;
    expect(setup.dueIn(member)).toBe(500);
    expect(member.inspect().lastError).toBeUndefined();
  });

  it('and keeps the other metadata of the source', async () => {
    const setup = new Setup({}, [
      () => Promise.reject(new Error('down')),
      async () => loaded('x', { maxStaleness: 5000 }),
    ]);
    const member = setup.member({ whenTooStale: 'throw' });
    await member.get();
    await setup.clock.advance(5001);
    expect(await rejectionOf(member.get())).toMatchObject({ code: 'TOO_STALE' });
  });
});

describe('an older edition of a backup', () => {
  async function placed(
    options: Partial<FirstOfOptions<string>> = {},
  ): Promise<[Setup, RefreshingValue<string>]> {
    const setup = new Setup(options);
    const member = setup.member();
    await member.get();
    setup.primary.down();
    await setup.clock.advance(1000);
    return [setup, member];
  }

  it.each<[what: string, editedAt: number | undefined, reason: string]>([
    ['is refused', NOON - 61_000, 'its edition is 1 min older than the one in place'],
    ['is refused where it is not known', undefined, 'it does not say when its edition was made'],
    ['is refused where it is no instant', Number.NaN, 'it does not say when its edition was made'],
  ])('%s', async (_, editedAt, reason) => {
    const [setup, member] = await placed();
    setup.backup.editedAt = editedAt;
    const error = (await rejectionOf(member.refresh())) as Error;
    expect((error as Error).message).toContain(
      `no source has an answer that may replace the value: (1) primary is down; (2) refused for 9 min 59 s more (allowOlderAfter): ${reason}`,
    );
    expect(member.current).toBe('primary 1');
    expect(member.inspect()).toMatchObject({ age: 1000, failures: 1, meta: { firstOf: { index: 0 } } });
  });

  it.each(
    [20_000, 60_000, 300_000].flatMap((coolDown) =>
      [false as const, { retries: 2, minTimeout: 100 }].flatMap((retry) =>
        [{ maxStaleness: 630_000 }, { allowOlderAfter: 630_000, maxStaleness: 900_000 }].map(
          (limit) => [coolDown, retry === false ? 0 : 2, limit, retry] as const,
        ),
      ),
    ),
  )(
    'is served as soon as it may be, whatever the cool-down (%i ms, %i retries, %j)',
    async (coolDown, _, limit, retry) => {
      const { allowOlderAfter, maxStaleness } = { allowOlderAfter: undefined, ...limit };
      const setup = new Setup({ allowOlderAfter });
      setup.primary.editedAt = setup.backup.editedAt = undefined;
      const member = setup.member({ coolDown, retry, maxStaleness });
      await member.get();
      setup.primary.down();
      let refused = 0;
      let oldest = 0;
      for (let second = 1; second <= 1800; second++) {
        await setup.clock.advance(1000);
        const read = member.get().catch(() => {
          refused += 1;
        });
        await setup.clock.advance(1000); // retries end within it
        await read;
        oldest = Math.max(oldest, Number(member.inspect().age));
      }
      expect([refused, member.current?.slice(0, 6)]).toEqual([0, 'backup']);
      expect(oldest).toBeLessThanOrEqual(634_000);
      expect(setup.primary.calls).toBeLessThan(200);
    },
  );

  it.each([NOON - 1000, NOON - 999])(
    'is not what was edited at the same time, or later',
    async (editedAt) => {
      const [setup, member] = await placed();
      setup.backup.editedAt = editedAt;
      expect(await member.refresh()).toBe('backup 1');
    },
  );

  it('is one of before that load, where the value in place does not say when it was made', async () => {
    const setup = new Setup();
    setup.primary.editedAt = undefined;
    const member = setup.member();
    await member.get();
    setup.primary.down();
    setup.backup.editedAt = NOON - 1;
    await rejectionOf(member.refresh());
    expect(member.current).toBe('primary 1');
    setup.backup.editedAt = NOON;
    expect(await member.refresh()).toBe('backup 1');
  });

  it('is allowed from `allowOlderAfter` on, by the age of the value in place', async () => {
    const [setup, member] = await placed({ allowOlderAfter: '2s' });
    setup.backup.editedAt = 0;
    await setup.clock.advance(999);
    await rejectionOf(member.refresh());
    await setup.clock.advance(1);
    expect(await member.refresh()).toBe('backup 1');
  });

  it('is better than a read that waits in vain, with the `maxStaleness` of the member', async () => {
    const hour = 3_600_000;
    const ages = { maxStaleness: hour, whenTooStale: 'wait' } as const;
    for (const allowOlderAfter of [hour, Infinity]) {
      const setup = new Setup({ allowOlderAfter });
      const member = setup.member(ages);
      await member.get();
      setup.primary.down();
      setup.backup.editedAt = 0;
      await setup.clock.advance(hour - 1);
      expect(await member.get()).toBe('primary 1');
      await setup.clock.flush();
      await setup.clock.advance(300_000);
      const read = member.get();
      if (allowOlderAfter === hour) expect(await read).toBe('backup 1');
      else expect(await rejectionOf(read)).toMatchObject({ code: 'TOO_STALE' });
    }
  });

  describe('is allowed by default where the value in place is as old as its limit', () => {
    const hour = 3_600_000;
    it.each<[limit: string, own: Partial<ValueOptions<string>>, limitMs: number]>([
      ['its `maxStaleness`', { maxStaleness: hour, whenTooStale: 'wait' }, hour],
      ['a period', {}, PERIOD_MS],
      ['a period of another length', { schedule: '2h' }, 2 * hour],
    ])('%s', async (_, own, limitMs) => {
      for (const editedAt of [0, undefined]) {
        const setup = new Setup();
        const member = setup.member(own);
        await member.get();
        setup.primary.down();
        setup.backup.editedAt = editedAt;
        await setup.clock.advance(limitMs - 1);
        await rejectionOf(member.refresh());
        expect(member.current).toBe('primary 1');
        await setup.clock.advance(1);
        expect(await member.refresh()).toBe('backup 1');
      }
    });

    it('what the load has said of it: `maxStaleness`, else when it is due', async () => {
      for (const said of [{ maxStaleness: 5000 }, { dueAfter: 5000 }]) {
        let isUp = true;
        const primary = async () => (isUp ? loaded('primary', said) : Promise.reject(new Error('down')));
        const setup = new Setup({}, [primary as Source<string>, async () => loaded('backup')]);
        const member = setup.member();
        await member.get();
        isUp = false;
        await setup.clock.advance(4999);
        await rejectionOf(member.refresh());
        await setup.clock.advance(1);
        expect(await member.refresh()).toBe('backup');
      }
    });

    it('for a key of a cache as for a value, also in a mergeOf', async () => {
      const clock = new FakeClock({ now: NOON });
      let isUp = true;
      const primary = async () => (isUp ? 'primary' : Promise.reject(new Error('down')));
      const both = firstOf(primary, async () => 'backup', { clock });
      const { cache } = fakeCache<string, object>({
        load: (_, context) => mergeOf({ part: firstOf(both, { clock }) })(context),
        ...{ schedule: PERIOD_MS, clock },
      });
      expect(await cache.get('a')).toEqual({ part: 'primary' });
      isUp = false;
      await clock.advance(PERIOD_MS - 1);
      await rejectionOf(cache.refresh('a'));
      await clock.advance(1);
      expect(await cache.refresh('a')).toEqual({ part: 'backup' });
    });

    it('by its age in the cluster, and by a clock that is an hour off', async () => {
      const setup = new Setup({ clock: new FakeClock({ now: NOON + hour }) });
      const { clock } = setup;
      setup.backup.editedAt = 0;
      const backend = memoryBackend({ clock });
      await setup.member({ backend }).get();
      await clock.flush();
      await clock.advance(PERIOD_MS - 1000);
      const second = setup.member({ backend });
      expect(await second.get()).toBe('primary 1');
      setup.primary.down();
      await clock.advance(999);
      await rejectionOf(second.refresh());
      await clock.advance(1001); // it looks for the next snapshot a moment after it
      expect(await second.refresh()).toBe('backup 1');
    });

    it('of that of a backup: a period of the schedule, not its cool-down', async () => {
      const [second, third] = [new Editions('second', 2000), new Editions('third', 1000)];
      const down = () => Promise.reject(new Error('down'));
      const setup = new Setup({}, [down, second.source, third.source]);
      const member = setup.member();
      await member.get();
      second.down();
      await setup.clock.advance(PERIOD_MS - 1);
      await rejectionOf(member.refresh());
      await setup.clock.advance(1);
      expect(await member.refresh()).toBe('third 1');
    });

    it('of one that is never due by itself: never', async () => {
      const setup = new Setup();
      const member = setup.member({ schedule: Infinity });
      await member.get();
      setup.primary.down();
      setup.backup.editedAt = 0;
      await setup.clock.advance(PERIOD_MS * 1000);
      await rejectionOf(member.refresh());
      expect(member.current).toBe('primary 1');
    });
  });

  it('is also one of the second backup against the first', async () => {
    const backups = [new Editions('second', 2000), new Editions('third', 1000)] as const;
    const [second, third] = backups;
    const setup = new Setup({}, [() => Promise.reject(new Error('down')), second.source, third.source]);
    const member = setup.member();
    await member.get();
    second.down();
    await rejectionOf(member.refresh());
    third.editedAt = 2000;
    expect(await member.refresh()).toBe('third 1');
    second.up(); // an earlier source may have any edition
    second.editedAt = 1;
    expect(await member.refresh()).toBe('second 1');
  });

  it('is no matter for the guard: it is not asked', async () => {
    let asked = 0;
    const accept = (): boolean => {
      asked += 1;
      return true;
    };
    const [setup, member] = await placed({ accept });
    setup.backup.editedAt = 0;
    await rejectionOf(member.refresh());
    expect(asked).toBe(1);
  });
});

describe('accept', () => {
  it('is asked about each value that is loaded, with the details that a member gives', async () => {
    const asked: unknown[] = [];
    const setup = new Setup({
      accept: (candidate, { previous, trigger, version, key }) => {
        asked.push([candidate, previous?.value, trigger, version === undefined, key]);
        return candidate.startsWith('backup') || 'it is empty';
      },
    });
    const member = setup.member();
    expect(await member.get()).toBe('backup 1');
    expect(member.inspect().meta?.firstOf).toEqual({
      index: 1,
      inARow: 1,
      since: NOON,
      failures: ['refused: it is empty'],
    });
    await member.refresh(); // the backup keeps it
    expect(asked).toEqual([
      ['primary 1', undefined, 'first', true, undefined],
      ['backup 1', undefined, 'first', true, undefined],
      ['primary 1', 'backup 1', 'forced', true, undefined],
    ]);
  });

  it('of firstOf and of the member sees what the source says of its edition, and of the one in place', async () => {
    const seen: unknown[] = [];
    const accept: Accept<string> = (_, { meta, previous }) => {
      seen.push([meta?.editedAt, previous?.meta?.editedAt]);
      const [now, before] = [meta, previous?.meta].map((notes) => (notes?.editedAt as number) ?? 0);
      return (now as number) >= (before as number) || 'an older edition';
    };
    for (const isMember of [false, true]) {
      const setup = new Setup(isMember ? {} : { accept });
      const member = setup.member(isMember ? { accept } : {});
      const served: unknown[] = [];
      const { primary } = setup;
      setup.backup.down();
      for (const edition of [2, 1, 2, 3]) {
        primary.edition = edition;
        primary.editedAt = NOON + edition;
        await member.refresh().catch(() => {});
        served.push(member.peek());
      }
      expect(served).toEqual(['primary 2', 'primary 2', 'primary 2', 'primary 3']);
      expect(seen.splice(0)).toEqual([
        [NOON + 2, undefined],
        [NOON + 1, NOON + 2],
        [NOON + 3, NOON + 2],
      ]);
    }
  });

  it.each<[what: string, verdict: () => never, message: string]>([
    ['a reason', () => 'why not' as never, 'refused: why not'],
    ['an error', () => new Error('why not') as never, 'refused: why not'],
    ['nothing', () => undefined as never, 'refused: accept returned undefined, expected true or a reason'],
    ['a rejection', () => Promise.reject(new Error('why not')) as never, 'why not'],
  ])('refuses by %s', async (_, verdict, message) => {
    const error = (await rejectionOf(new Setup({ accept: verdict }).member().get())) as Error;
    expect((error as Error).message).toContain(`(1) ${message}; (2) ${message}`);
  });
});

describe('when all fail', () => {
  it('the error has one of each in their order, and the pause that the primary asks for counts', async () => {
    const setup = new Setup();
    const [one, two] = [Object.assign(new Error('busy'), { retryAfter: 300 }), new Error('no such file')];
    setup.primary.down(one);
    setup.backup.down(two);
    const member = setup.member();
    const error = (await rejectionOf(member.get())) as Error;
    expect((error as Error).message).toBe(
      'prices: load failed: no source has answered: (1) busy; (2) no such file',
    );
    const aggregate = error.cause as AggregateError;
    expect(aggregate).toBeInstanceOf(AggregateError);
    expect(aggregate.errors).toEqual([one, two]);
    expect(aggregate.cause).toBe(one);
    expect(setup.dueIn(member)).toBe(300_000);
  });

  it('the error names sources that are functions with a name, and shows the last one also after a long text', async () => {
    const fromService = (): Promise<never> => Promise.reject(new Error('x'.repeat(5000)));
    const fromDisk = (): Promise<never> => Promise.reject(new Error('no such file'));
    const setup = new Setup({}, [fromService, fromDisk]);
    const { message } = (await rejectionOf(setup.member().get())) as Error;
    expect(message).toMatch(/\(1\) x+… \(fromService\); \(2\) no such file \(fromDisk\)/);
  });

  it('the value of a backup stays, and what was noted about it', async () => {
    const setup = new Setup();
    setup.primary.down();
    const member = setup.member();
    await member.get();
    setup.backup.down();
    await rejectionOf(member.refresh());
    expect(member.current).toBe('backup 1');
    setup.backup.up();
    await member.refresh();
    expect(member.inspect().meta?.firstOf).toMatchObject({ index: 1, inARow: 2 });
  });

  it('a source that keeps a value which is not its own is one of them', async () => {
    const keeps = async (): Promise<ReturnType<typeof keep>> => keep();
    const setup = new Setup({}, [keeps, keeps]);
    const error = (await rejectionOf(setup.member().get())) as Error;
    expect((error as Error).message).toContain('(2) the load returned keep(), but there is no value to keep');
  });
});

it('an aborted load asks no further source, and leaves no timer of one that ignores its signal', async () => {
  const setup = new Setup();
  setup.primary.fault = () => new Promise(() => {});
  const member = setup.member({ timeout: Infinity });
  const first = rejectionOf(member.get());
  await setup.clock.flush();
  await member.cancel('no longer needed');
  await first;
  await setup.clock.flush();
  expect(setup.primary.contexts[0]?.signal.aborted).toBe(true);
  expect(setup.clock.timerCount).toBe(0);
  expect(setup.backup.calls).toBe(0);
});

describe('timeout', () => {
  const hangs = (): Promise<never> => new Promise(() => {});

  it('ends each source but the last one, and aborts its signal', async () => {
    const setup = new Setup();
    setup.primary.fault = hangs;
    const member = setup.member();
    const first = member.get();
    await setup.clock.advance(9999);
    expect(setup.backup.calls).toBe(0);
    await setup.clock.advance(1);
    expect(await first).toBe('backup 1');
    expect(setup.primary.contexts[0]?.signal.aborted).toBe(true);
    expect(setup.backup.contexts[0]?.signal.aborted).toBe(false);
    expect(member.inspect().meta?.firstOf).toMatchObject({ failures: ['no answer within 10 s'] });
    expect(setup.clock.timerCount).toBe(0);
  });

  it('leaves the last one to the deadline of the member', async () => {
    const setup = new Setup();
    setup.primary.down();
    setup.backup.fault = hangs;
    const failed = rejectionOf(setup.member().get());
    await setup.clock.advance(29_999);
    expect(setup.backup.contexts[0]?.signal.aborted).toBe(false);
    await setup.clock.advance(1);
    expect(await failed).toMatchObject({ code: 'TIMED_OUT' });
    expect(setup.backup.contexts[0]?.signal.aborted).toBe(true);
  });

  it('of Infinity is none', async () => {
    const setup = new Setup({ timeout: Infinity });
    setup.primary.fault = hangs;
    const failed = rejectionOf(setup.member().get());
    await setup.clock.advance(30_000);
    expect(await failed).toMatchObject({ code: 'TIMED_OUT' });
    expect(setup.backup.calls).toBe(0);
  });
});

describe('notes that are too long for meta', () => {
  const long =
    (length: number): Source<string> =>
    async () =>
      loaded('x', { meta: { source: 'long', etag: 'e'.repeat(length) } });

  it('lose the failures, then what the source has noted', async () => {
    const fails = Array.from({ length: 3 }, () => () => Promise.reject(new Error('f'.repeat(500))));
    const metaOf = async (length: number): Promise<unknown> => {
      const member = new Setup({}, [...fails, long(length)]).member();
      await member.get();
      return member.inspect().meta;
    };
    const short = `${'f'.repeat(119)}…`;
    const place = { index: 3, inARow: 1, since: NOON };
    expect(await metaOf(10)).toEqual({
      source: 'long',
      etag: 'e'.repeat(10),
      firstOf: { ...place, failures: [short, short, short] },
    });
    expect(await metaOf(1900)).toEqual({ source: 'long', etag: 'e'.repeat(1900), firstOf: place });
    expect(await metaOf(1965)).toEqual({ source: 'long', firstOf: place });
  });

  it('lose all but its place where the name of the source is too long', async () => {
    const source = async (): Promise<ReturnType<typeof loaded<string>>> =>
      loaded('x', { meta: { source: 's'.repeat(1985) } });
    const member = new Setup({}, [source]).member();
    await member.get();
    expect(member.inspect().meta).toEqual({ firstOf: { index: 0 } });
  });
});

it('a firstOf is a source of another one, and knows its own value again', async () => {
  const [one, two, three] = [new Editions('one', 1), new Editions('two', 1), new Editions('three', 1)];
  const setup: Setup = new Setup();
  const { clock } = setup;
  const inner = firstOf(one.source, two.source, { clock, random: () => 0 });
  const member = new RefreshingValue({
    name: 'x',
    clock,
    logger: false,
    load: firstOf(inner, three.source, { clock, random: () => 0 }),
    schedule: PERIOD_MS,
  });
  one.down();
  await member.get();
  await member.refresh();
  expect(member.inspect().meta).toEqual({
    source: 'two',
    editedAt: 1,
    edition: 1,
    firstOf: { index: 0, inner: { index: 1, inARow: 2, since: NOON, failures: ['one is down'] } },
  });
  expect(two.contexts.at(-1)?.previous?.meta).toEqual({ source: 'two', editedAt: 1, edition: 1 });
  expect(setup.dueIn(member as RefreshingValue<string>)).toBe(1000);
});

it('infers the type of the value from the sources', () => {
  const own = async ({ previous }: LoadContext<string[]>) => (previous ? keep() : ['tea']);
  const load = firstOf(
    own,
    async () => loaded(['tea']),
    () => ['tea'],
    { accept: (list) => list.every((name) => name.length > 0) },
  );
  expectTypeOf(load).toEqualTypeOf<Source<string[]>>();
  const strings = firstOf(async () => ['tea'], { accept: shrinksAtMost(0.3) });
  const member = new RefreshingValue({ name: 'x', load: strings, accept: shrinksAtMost(0.3) });
  expectTypeOf(member).toEqualTypeOf<RefreshingValue<string[]>>();
});

it('refuses wrong options and sources, all at once', () => {
  const times = { allowOlderAfter: -1, coolDown: { initial: 0 }, timeout: 0, timeOut: 5 };
  const wrong = { ...times, accept: true, clock: {}, random: 1 };
  const error = thrownBy(() => firstOf(42 as never, wrong as never));
  const expected = [...Object.keys({ ...wrong, coolDown: 0 }), 'sources[0]'];
  expect(optionsIn(error).sort()).toEqual(
    expected.map((name) => (name === 'coolDown' ? 'coolDown.initial' : name)).sort(),
  );
  expect((error as Error).message).toContain('timeOut is unknown (did you mean timeout?)');
  expect(() => (firstOf as () => unknown)()).toThrow('sources must be at least one');
  const inArray = [() => 1, () => 2];
  expect(() => firstOf(inArray as never)).toThrow('sources[0] must be a function, received');
});
