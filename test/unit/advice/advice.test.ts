import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Advice, loaded, RefreshGroup, type RefreshGroupOptions } from '../../../src/index.ts';
import { isDevelopment } from '../../../src/options/development.ts';
import { toMillis } from '../../../src/time/duration.ts';

const load = async (): Promise<number> => 1;

function groupOf(options: RefreshGroupOptions = {}): RefreshGroup {
  const group = new RefreshGroup({ logger: false, ...options });
  onTestFinished(() => void group.close({ timeout: 0 }));
  return group;
}

async function kinds(group: RefreshGroup): Promise<Advice['kind'][]> {
  return (await group.advice()).map(({ kind }) => kind);
}

describe('maxStaleness near the schedule', () => {
  it.each([
    ['wait', 'reads wait after one failed reload'],
    ['throw', 'reads are refused after one failed reload'],
  ] as const)('is told, with %s', async (whenTooStale, harm) => {
    const group = groupOf();
    group.value({ name: 'rates', load, schedule: '10m', maxStaleness: '12m', whenTooStale });
    expect(await group.advice()).toEqual([
      {
        name: 'rates',
        kind: 'staleness-near-schedule',
        message: `maxStaleness leaves 2 min after the schedule of 10 min: ${harm}. Write maxStaleness: { minutes: 30 }`,
      },
    ]);
  });

  it('is not told where there is room, where old values are served, or where no period is known', async () => {
    const group = groupOf({ maxStaleness: '12m' });
    group.value({ name: 'room', load, schedule: '9m' });
    group.value({ name: 'served', load, schedule: '10m', whenTooStale: 'serve' });
    group.value({
      name: 'at times',
      load,
      schedule: { nextExecuteTime: ({ endedAt }) => endedAt + 660_000 },
    });
    group.value({ name: 'never', load, schedule: Number.POSITIVE_INFINITY });
    group.value({ name: 'unlimited', load, schedule: '10m', maxStaleness: Number.POSITIVE_INFINITY });
    expect(await group.advice()).toEqual([]);
  });

  it('has a line that the options take', async () => {
    for (const schedule of [1, 1500, '90s', '36h', { days: 7 }]) {
      const group = groupOf();
      const period = toMillis(schedule);
      group.value({ name: 'one', load, schedule, maxStaleness: period * 1.1 });
      const [advice] = await group.advice();
      const [, line = ''] = /Write maxStaleness: (.*)$/.exec(advice?.message ?? '') ?? [];
      const maxStaleness = Function(`return (${line})`)() as number;
      group.value({ name: 'other', load, schedule, maxStaleness });
      expect({ line, of: toMillis(maxStaleness) }).toEqual({ line, of: period * 3 });
    }
  });
});

describe('an objective', () => {
  it('that the schedule can not meet is told', async () => {
    const group = groupOf({ schedule: '10m' });
    group.value({ name: 'rates', load, freshness: { within: '4m', target: 0.99 } });
    group.cache({ name: 'cities', load: async (key: string) => key, freshness: { within: '9m', target: 1 } });
    const [rates, cities] = await group.advice();
    expect([rates?.name, rates?.kind, cities?.name]).toEqual(['rates', 'freshness-below-schedule', 'cities']);
    expect(rates?.message).toMatch(
      /^freshness.within of 4 min is shorter .* Write schedule: { minutes: 2 }$/,
    );
  });

  it('that it can meet is not', async () => {
    const group = groupOf({ schedule: '10m' });
    group.value({ name: 'rates', load, freshness: { within: '10m', target: 0.99 } });
    group.value({
      name: 'once',
      load,
      schedule: Number.POSITIVE_INFINITY,
      freshness: { within: '1m', target: 1 },
    });
    expect(await group.advice()).toEqual([]);
  });
});

describe('a list of what is revoked', () => {
  it.each(['revocation-list', 'revoked-keys', 'certs.crl', 'denylist', 'block-list', 'ip_blacklist'])(
    'that is served however old it is is told by its name: %s',
    async (name) => {
      const group = groupOf();
      const value = group.value({ name, load });
      group.value({ name: `${name} of keys`, load, whenTooStale: 'serve', maxStaleness: '1h' });
      await value.get();
      expect(await kinds(group)).toEqual(['revocation-list-served', 'revocation-list-served']);
    },
  );

  it('that has a limit is not, nor others', async () => {
    const group = groupOf();
    const loadedOnes = [
      group.value({ name: 'revoked', load, maxStaleness: '1h' }),
      group.value({ name: 'stated.crl', load: async () => loaded(1, { maxStaleness: '1h' }) }),
      group.value({ name: 'denylist', load, whenTooStale: 'throw' }),
      group.value({ name: 'crlf-rules', load }),
      group.value({ name: 'blocks', load }),
    ];
    for (const one of loadedOnes) await one.get();
    group.value({ name: 'crl without a value, which may state a limit', load });
    expect(await group.advice()).toEqual([]);
  });
});

describe('a load without a deadline', () => {
  it('is told where others wait in line for it', async () => {
    const group = groupOf({ maxConcurrentLoads: 2 });
    group.value({ name: 'endless', load, timeout: Number.POSITIVE_INFINITY });
    group.value({ name: 'bounded', load });
    expect((await group.advice()).map(({ name, kind }) => [name, kind])).toEqual([
      ['endless', 'no-deadline-in-line'],
    ]);
  });

  it('is not told where none does', async () => {
    const group = groupOf();
    group.value({ name: 'endless', load, timeout: Number.POSITIVE_INFINITY });
    expect(await group.advice()).toEqual([]);
  });
});

describe('the log line', () => {
  afterEach(() => void vi.unstubAllEnvs());

  function advised(lines: string[]): RefreshGroup {
    const warn = (line: string): void => void lines.push(line);
    const group = groupOf({ name: 'shop', logger: { warn, error: warn } });
    group.value({ name: 'rates', load, schedule: '10m', maxStaleness: '11m', required: true });
    return group;
  }
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

  it('comes once, with the first ready() in development', async () => {
    vi.stubEnv('NODE_ENV', 'development');
    vi.stubEnv('NODE_TEST_CONTEXT', undefined);
    const lines: string[] = [];
    const group = advised(lines);
    await Promise.all([group.ready(), group.ready()]);
    await vi.waitFor(() => expect(lines).not.toEqual([]));
    await group.ready();
    await settle();
    expect(lines).toEqual([
      expect.stringMatching(/^tickless: shop: advice: rates: maxStaleness leaves 1 min/),
    ]);
  });

  it('has three of many, and is within the bounds of a line', async () => {
    vi.stubEnv('NODE_ENV', undefined);
    vi.stubEnv('NODE_TEST_CONTEXT', undefined);
    const lines: string[] = [];
    const group = advised(lines);
    for (const name of 'abcd') group.value({ name, load, schedule: '10m', maxStaleness: '11m' });
    await group.ready();
    await vi.waitFor(() => expect(lines).not.toEqual([]));
    expect(lines[0]).toMatch(/: rates: .* \| a: .* \| b: .* \| 2 more by group\.advice\(\)$/);
  });

  it('does not come in production, in tests, nor where there is nothing to say', async () => {
    const lines: string[] = [];
    for (const mode of ['production', 'test']) {
      vi.stubEnv('NODE_ENV', mode);
      await advised(lines).ready();
    }
    vi.stubEnv('NODE_ENV', 'development');
    vi.stubEnv('NODE_TEST_CONTEXT', undefined);
    const warn = (line: string): void => void lines.push(line);
    await groupOf({ logger: { warn, error: warn } }).ready();
    await settle();
    expect(lines).toEqual([]);
  });

  it.each([
    ['a runtime without a process', {}, false],
    ['one without an environment', { process: {} }, false],
    ['Deno', { Deno: {}, process: { env: {} } }, false],
    ['the test runner of Node', { process: { env: { NODE_TEST_CONTEXT: 'child-v8' } } }, false],
    ['production', { process: { env: { NODE_ENV: 'production' } } }, false],
    ['an environment without a mode', { process: { env: {} } }, true],
  ])('knows development: %s', (_, runtime, expected) => {
    expect(isDevelopment(runtime)).toBe(expected);
  });
});
