import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { statusText } from '../../../src/cli/tables.ts';
import { Overviews } from '../../../src/console/overview.ts';
import { WatchTime } from '../../../src/console/watch-time.ts';
import { stateText } from '../../../src/console/words.ts';
import { backupOf } from '../../../src/data/backup.ts';
import { type Logger, RefreshGroup } from '../../../src/index.ts';
import { prometheusMetrics } from '../../../src/prometheus/index.ts';
import { firstOf, mergeOf } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { Editions } from '../../support/editions.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;

/** A group whose values come from a primary or a backup. */
class Setup {
  readonly clock = new FakeClock({ now: NOON });
  readonly lines: string[] = [];
  readonly logger: Logger = {
    warn: (line) => void this.lines.push(line),
    error: (line) => void this.lines.push(line),
  };
  readonly primary = new Editions('primary', NOON);
  readonly backup = new Editions('backup', NOON);
  readonly group = this.newGroup();

  newGroup(): RefreshGroup {
    const { clock, logger } = this;
    return new RefreshGroup({ clock, logger, random: () => 0 });
  }

  get load() {
    const { clock, primary, backup } = this;
    return firstOf(primary.source, backup.source, { clock, random: () => 0 });
  }

  problems(group: RefreshGroup = this.group) {
    return group.health({ start: false }).problems;
  }
}

describe('a backup that answers', () => {
  it('is a problem that is not fatal, with the source, the reason and since when, until the first source answers', async () => {
    const setup = new Setup();
    const { group, clock, primary } = setup;
    const member = group.value({ name: 'prices', load: setup.load, schedule: '10m', retry: false });
    await member.get();
    expect(setup.problems()).toEqual([]);
    primary.down();
    await clock.advance(MINUTE);
    await member.refresh();
    const since = NOON + MINUTE;
    const message =
      'is served by a backup since 2026-11-20T12:01:00.000Z, source 2 (backup); source 1 failed: primary is down';
    const found = { name: 'prices', kind: 'backup', isFatal: false, since, message };
    expect(setup.problems()).toEqual([found]);
    expect(group.health({ start: false }).ok).toBe(true);
    await clock.advance(MINUTE);
    await member.refresh();
    expect(setup.problems()).toEqual([found]); // since the first one
    expect(await member.read()).toMatchObject({ meta: { source: 'backup', firstOf: { index: 1, since } } });

    setup.backup.down();
    await member.refresh().catch(() => {}); // both are down: the value in place is still the backup's
    expect(setup.problems().map(({ kind }) => kind)).toEqual(['failing', 'backup']);

    primary.up();
    await member.refresh();
    expect(setup.problems()).toEqual([]);
    expect(await member.read()).toMatchObject({ meta: { source: 'primary', firstOf: { index: 0 } } });
  });

  it('is one log line, at most one a minute, and one when the first source is back', async () => {
    const setup = new Setup();
    const { group, clock, primary } = setup;
    const member = group.value({ name: 'prices', load: setup.load, schedule: '1m' });
    primary.down();
    await member.get();
    await clock.flush();
    expect(setup.lines).toEqual([
      'tickless: prices: served by a backup since 2026-11-20T12:00:00.000Z, source 2 (backup); source 1 failed: primary is down',
    ]);
    for (let second = 0; second < 600; second++) {
      void member.current;
      await clock.advance(1000);
    }
    expect(setup.lines.length).toBeGreaterThan(4);
    expect(setup.lines.length).toBeLessThanOrEqual(11);
    expect(setup.lines.at(-1)).toMatch(/^tickless: prices: still, after .*, served by a backup since /);
    primary.up();
    setup.lines.length = 0;
    await member.refresh();
    await member.refresh();
    expect(setup.lines).toHaveLength(1);
    expect(setup.lines[0]).toMatch(/^tickless: prices: no longer served by a backup, after 10 min/);
  });

  it('that takes over from a primary that hangs is no recovery in the log; reads that were refused are served again', async () => {
    for (const maxStaleness of ['10m', '20s']) {
      const setup = new Setup();
      const { group, clock, backup, lines } = setup;
      let hangs = false;
      const primary = async (): Promise<string> => (hangs ? new Promise<never>(() => {}) : 'primary');
      const load = firstOf(primary, backup.source, { clock, timeout: '5s', random: () => 0 });
      const options = { schedule: '10s', maxStaleness, retry: false, coolDown: '5s' } as const;
      const member = group.value({ name: 'prices', load, ...options });
      const read = async (minutes: number): Promise<void> => {
        for (let second = 0; second < minutes * 60; second++) {
          void member.get().catch(() => {});
          await clock.advance(1000);
        }
      };
      await read(1);
      hangs = true;
      backup.down();
      await read(2);
      backup.up();
      await read(13);
      hangs = false;
      await read(5);
      const said = lines.map(
        (line) => /failed|timed out|still|a backup answers|no longer|served by|recovered/.exec(line)?.[0],
      );
      const isRefused = maxStaleness === '20s';
      const story = said.filter((word, at) => word !== said[at - 1]);
      expect(said).not.toContain('recovered');
      expect(story.at(0)).toBe('failed');
      expect(story.slice(-3)).toEqual(['served by', 'still', 'no longer']);
      expect(lines.filter((line) => line.includes('reads are served again'))).toHaveLength(isRefused ? 1 : 0);
    }
  });

  it('is counted by key of a cache, which is one problem and one line', async () => {
    const setup = new Setup();
    const { group, clock } = setup;
    const down = new Set<string>(['a', 'b', 'c']);
    const cache = group.cache<string, string>({
      name: 'keys',
      load: (key, context) =>
        firstOf(
          async () => (down.has(key) ? Promise.reject(new Error('no route')) : key),
          async () => 'backup',
          { clock },
        )(context),
      schedule: '10m',
      max: 3,
    });
    const backups = (): unknown =>
      group.inspect().members.map((member) => ('size' in member ? member.backups : 0))[0];
    await Promise.all(['a', 'b', 'c'].map((key) => cache.get(key)));
    await clock.flush();
    expect(setup.lines).toHaveLength(1);
    expect(setup.lines[0]).toContain('keys: served by a backup "a" and 2 more keys since');
    expect(backups()).toBe(3);
    expect(setup.problems()).toMatchObject([
      {
        kind: 'backup',
        key: 'a',
        since: NOON,
        message:
          '3 keys are served by a backup since 2026-11-20T12:00:00.000Z, for example "a" by source 2; source 1 failed: no route',
      },
    ]);
    expect(await cache.read('a')).toMatchObject({ meta: { firstOf: { index: 1 } } });
    down.delete('a');
    await cache.refresh('a');
    cache.delete('b');
    expect(backups()).toBe(1);
    await cache.get('d');
    await cache.get('e');
    await cache.get('f'); // c is evicted
    expect(backups()).toBeUndefined();
    expect(setup.problems()).toEqual([]);
  });

  it('is known to an instance that adopts the value, since the same instant', async () => {
    const setup = new Setup();
    const { clock, primary, lines } = setup;
    const backend = memoryBackend({ clock });
    const options = { name: 'prices', load: setup.load, schedule: '10m' } as const;
    primary.down();
    await setup
      .newGroup()
      .value({ ...options, backend })
      .get();
    await clock.advance(MINUTE);
    lines.length = 0;
    const group = setup.newGroup();
    const second = group.value({ ...options, backend });
    await second.get();
    await clock.flush();
    expect(setup.problems(group)).toMatchObject([{ kind: 'backup', since: NOON }]);
    expect(lines.filter((line) => line.includes('served by a backup'))).toHaveLength(1);
    await second.refresh();
    expect(setup.problems(group)).toMatchObject([{ kind: 'backup', since: NOON }]);
  });

  it('is over with a value that is set by hand, and with one that is dropped', async () => {
    const setup = new Setup();
    const member = setup.group.value({ name: 'prices', load: setup.load });
    setup.primary.down();
    await member.get();
    await setup.clock.flush();
    await member.set('by hand');
    expect(setup.problems()).toEqual([]);
    await member.refresh();
    expect(setup.problems()).toHaveLength(1);
    member.invalidate({ drop: true });
    expect(setup.problems()).toEqual([]);
    expect(setup.lines.filter((line) => line.includes('no longer'))).toHaveLength(1);
  });

  it('is in the metrics, in status and in the words of the page', async () => {
    const setup = new Setup();
    const { group } = setup;
    const register = new Registry();
    prometheusMetrics(group, { register });
    const plain = group.value({ name: 'plain', load: () => 1 });
    const member = group.value({ name: 'prices', load: setup.load });
    const cache = group.cache({ name: 'keys', load: (_: string, context) => setup.load(context) });
    await plain.get();
    setup.primary.down();
    await Promise.all([member.get(), cache.get('a'), cache.get('b')]);
    const metrics = (await register.metrics()).split('\n');
    expect(metrics.filter((line) => line.startsWith('tickless_served_by_backup{'))).toEqual([
      'tickless_served_by_backup{name="plain"} 0',
      'tickless_served_by_backup{name="prices"} 1',
      'tickless_served_by_backup{name="keys"} 2',
    ]);
    const overview = await new Overviews(group, new WatchTime(), (text) => text).now();
    expect(overview.ok).toBe(true);
    expect(overview.members.map(({ name, level }) => [name, level])).toEqual([
      ['prices', 'backup'],
      ['keys', 'backup'],
      ['plain', 'ok'],
    ]);
    expect(overview.members.map(stateText)).toEqual([
      expect.stringContaining('by a backup'),
      expect.stringContaining('2 keys, 2 by a backup'),
      expect.not.stringContaining('by a backup'),
    ]);
    expect(statusText(overview, false)).toMatch(
      /by a backup +prices .*since \d+.* ago: is served by a backup, source 2 \(backup\); source 1 failed: primary is down/,
    );
  });
});

describe('the notes of', () => {
  const fails = (text: string) => () => Promise.reject(new Error(text));

  it('a firstOf in a firstOf, of a part of a mergeOf and of notes by others say what is served', async () => {
    const clock = new FakeClock({ now: NOON });
    const rates = firstOf(fails('no rates'), async () => 1, { clock });
    const parts = mergeOf({ rates, codes: async () => 2 });
    const load = firstOf(fails('the service is down'), parts, { clock });
    const { group } = new Setup();
    const member = group.value({ name: 'x', load, clock });
    await member.get();
    expect(group.health({ start: false }).problems[0]?.message).toBe(
      'is served by a backup since 2026-11-20T12:00:00.000Z, source 2 (rates, codes); source 1 failed: the service is down',
    );
    const inner = firstOf(fails('b'), () => 3);
    const nested = group.value({ name: 'y', load: mergeOf({ one: firstOf(fails('a'), inner) }) });
    await nested.get();
    expect(backupOf(nested.inspect().meta)?.text).toBe(
      'part one: source 2 (within it source 2; source 1 failed: b); source 1 failed: a',
    );
  });

  it('a store that has been tampered with harm nothing', () => {
    const texts = [
      { firstOf: { index: 1, inARow: 1, failures: 'x', since: 'y' } },
      { firstOf: { index: 1, inARow: 1, failures: [null, { a: 1 }], since: 1e300 } },
      { firstOf: { index: 0, inner: { index: 'a', inner: [] } } },
      { firstOf: null, mergeOf: { a: null, b: 1, c: { firstOf: { index: 2, inARow: 1 } } } },
    ].map((meta) => backupOf(meta)?.text);
    expect(texts).toEqual([
      'source 2',
      'source 2; source 1 failed: null; source 2 failed: [object Object]',
      undefined,
      'part c: source 3',
    ]);
  });
});
