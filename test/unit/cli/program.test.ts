import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import type { ExitCode } from '../../../src/cli/command-line.ts';
import { run } from '../../../src/cli/program.ts';
import { stateOfMember, statusText } from '../../../src/cli/tables.ts';
import type { ConsoleOptions } from '../../../src/console/index.ts';
import { nodeConsole } from '../../../src/console/node.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { lockOf } from '../../support/parts.ts';

const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

const SECRET = 'Bearer of-ann';

/** A console, and a terminal at which a person answers. */
async function service(options: ConsoleOptions = {}) {
  const backend = memoryBackend({ keepVersions: 5 });
  const group = new RefreshGroup({ name: 'shop', backend, logger: false, retry: false });
  let edition = 0;
  const prices = group.value({ name: 'prices', load: async () => ({ edition: ++edition }) });
  await prices.get();
  await prices.refresh();
  const authorize = (request: Request) =>
    request.headers.get('authorization') === SECRET ? 'ann' : undefined;
  const console = nodeConsole(group, { authorize, actions: true, ...options });
  const server: Server = createServer(console);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closes.push(
    () => console.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tickless`;
  const asked: string[] = [];
  const type = async (
    args: readonly string[],
    { answer, env }: { answer?: boolean | (() => Promise<unknown>); env?: Record<string, string> } = {},
  ): Promise<{ code: ExitCode; out: string; err: string }> => {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await run(args, {
      print: (text) => void out.push(`${text}\n`),
      printError: (text) => void err.push(`${text}\n`),
      confirm:
        answer === undefined
          ? undefined
          : async (question) => {
              asked.push(question);
              if (typeof answer === 'boolean') return answer;
              await answer(); // yes, after a while
              return true;
            },
      env: env ?? { TICKLESS_URL: url, TICKLESS_HEADER: `authorization: ${SECRET}` },
    });
    return { code, out: out.join(''), err: err.join('') };
  };
  return { group, prices, lock: lockOf(backend), url, type, asked };
}

it('shows a problem of a member that its own errors do not say', () => {
  const detail = { at: 90_000, here: { state: 'fresh', backups: 1 } };
  const problems = [
    { kind: 'backup' as const, isFatal: false, message: 'is served by a backup, source 2', since: 30_000 },
    { kind: 'failing' as const, isFatal: false, message: 'failed: no route', cause: 'no route' },
  ];
  expect(stateOfMember('rates', detail as never, problems)).toMatch(
    /state +fresh, by a backup\nproblem +since 1 min ago: is served by a backup, source 2$/,
  );
});

describe('an outage of the backend', () => {
  const cause = `${'the backend is unavailable: '.padEnd(130, 'x')}: connect ECONNREFUSED 127.0.0.1:6379`;

  it('is in the state of a member', () => {
    const detail = { at: 0, here: { state: 'stale' }, lockError: cause, checks: { error: 'no store' } };
    expect(stateOfMember('rates', detail as never)).toMatch(/\nbackend +the backend .* ECONNREFUSED .*$/);
  });

  it('is one line of the status, and why other instances are not known is not said again', () => {
    const down = (step: string) =>
      `the backend is unavailable: no answer within 1 s (${step}), the client reports: connect ECONNREFUSED 10.0.0.1:6379`;
    const problems = ['acquire', 'read'].map((step) => {
      const message = down(step);
      return { kind: 'backend-down', isFatal: false, message, cause: message };
    });
    const members = [{ level: 'unshared', name: 'rates', here: { state: 'fresh' }, problems }];
    const fleetError = down('reports');
    const overview = { group: { name: 'shop' }, ok: true, at: 0, instances: [], members, fleetError };
    expect(
      statusText(overview as never, false)
        .split('\n')
        .slice(0, 4),
    ).toEqual([
      'shop: reads are served, 1 member',
      'loads are not shared: the backend is unavailable: no answer within 1 s, the client reports: connect ECONNREFUSED 10.0.0.1:6379',
      'other instances are not known: their reports are at that backend',
      '',
    ]);
  });

  it('is in the status with its cause, which is at the end', () => {
    const problem = { kind: 'backend-down', isFatal: false, message: cause };
    const here = { state: 'stale', loadedAt: 0 };
    const members = [{ level: 'warn', name: 'rates', here, problems: [problem, problem] }];
    const overview = { group: { name: 'shop' }, ok: true, at: 0, instances: [], members };
    expect(statusText(overview as never, false)).toMatch(/ECONNREFUSED 127.0.0.1:6379$/m);
    const failing = [
      {
        ...members[0],
        problems: [
          { ...problem, kind: 'failing' },
          { ...problem, kind: 'refused' },
        ],
      },
    ];
    const text = statusText({ ...overview, members: failing } as never, false);
    expect(text).toContain('ECONNREFUSED 127.0.0.1:6379 (and 1 more)');
  });

  it('is told once, before the members, whose loads are not shared', async () => {
    const down = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:6379'));
    const broken = asLock({ acquire: down, extend: down, release: down, inspect: down, list: down });
    const group = new RefreshGroup({ name: 'shop', lock: broken, logger: false, retry: false });
    for (const name of ['a', 'b', 'c', 'd']) await group.value({ name, load: () => 1 }).get();
    const served = nodeConsole(group, { authorize: () => 'ann' });
    const server = createServer(served);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closes.push(
      () => served.close(),
      () => server.closeAllConnections(),
      () => server.close(),
    );
    const [out, err]: [string[], string[]] = [[], []];
    const terminal = {
      print: (line: string) => void out.push(line),
      printError: (line: string) => void err.push(line),
      confirm: undefined,
      env: { TICKLESS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tickless` },
    };
    expect(await run(['status'], terminal)).toBe(0);
    const [text = ''] = out.splice(0);
    expect(text.match(/ECONNREFUSED/g)).toHaveLength(1);
    expect(text).toMatch(/^shop: reads are served, 4 members, .*\nloads are not shared: .*ECONNREFUSED/);
    expect(text).toMatch(/^loads are not shared +4 members/m);
    expect(text).not.toContain('loads fail');
    expect(await run(['locks'], terminal)).toBe(2);
    expect([out, err]).toEqual([[], [expect.stringContaining('ECONNREFUSED')]]);
  });
});

describe('status', () => {
  it('says since when loads fail, and has members that fail for one cause in one line; --all has each', async () => {
    const { group, type } = await service();
    const load = async (): Promise<number> => {
      throw new Error('HTTP 502 from pricing.internal');
    };
    for (const name of ['nl', 'be', 'de'])
      await group
        .value({ name, load, initial: { value: 1, loadedAt: 0 } })
        .refresh()
        .catch(() => {});
    const since = /failing since \d+ m?s ago: HTTP 502 from pricing[.]internal/;
    const { out } = await type(['status']);
    expect(out.match(/HTTP 502/g)).toHaveLength(1);
    expect(out).toMatch(new RegExp(`\nloads fail +3 members +${since.source}\n`));
    expect(out).toContain('1 without a problem (--all lists each member)');
    expect((await type(['status', '--all'])).out).toMatch(new RegExp(`\nloads fail +be .*${since.source}`));
  });

  it('lists problems, and is 0 while reads are served, 1 when they fail, or a required member has no value', async () => {
    const { group, type } = await service();
    const fine = await type(['status']);
    expect([fine.code, fine.out]).toEqual([
      0,
      'shop: reads are served, 1 member, 1 instance\n\n1 without a problem (--all lists each member)\n',
    ]);
    const all = await type(['status', '--all']);
    expect(all.out).toMatch(/LEVEL +MEMBER +HERE +AGE +NEWEST ON +PROBLEM\nfine +prices +fresh +\d/);
    const red = group.value({
      name: '\u001b[31mred',
      required: true,
      load: () => Promise.reject(new Error('no')),
    });
    const unread = await type(['status']);
    expect([unread.code, unread.out]).toEqual([
      1,
      expect.stringMatching(/shop: not ready, 2 members[\s\S]*notices .*red +not read yet +-/),
    ]);
    await red.get().catch(() => {});
    const failing = await type(['status']);
    expect([failing.code, failing.out]).toEqual([
      1,
      expect.stringMatching(/reads fail +\\u001b\[31mred +no value, 1 failure .*is required/),
    ]);
    group.value({ name: '\u009b2J\u202e', load: () => 1 });
    const json = await type(['status', '--json']);
    expect(json.out).not.toMatch(/[\u0080-\u009f\u202e]/);
    expect(JSON.parse(json.out).members[2].name).toBe('\u009b2J\u202e');
    expect([json.code, JSON.parse(json.out).members[0].level]).toEqual([1, 'bad']);
  });

  it('names no number of instances where others are not known', () => {
    const group = { name: 'shop', closed: false };
    const alone = { at: 0, group, ok: true, instances: [], members: [] };
    expect(statusText(alone, false)).toBe('shop: reads are served, 0 members, this instance only');
    expect(statusText({ ...alone, fleetError: 'ECONNREFUSED' }, false)).toBe(
      'shop: reads are served, 0 members\nother instances are not known: ECONNREFUSED',
    );
  });

  it('takes the address and a header from options too', async () => {
    const { type, url } = await service();
    const options = ['--url', `${url}/`, '--header', `authorization: ${SECRET}`];
    expect((await type(['status', ...options], { env: {} })).code).toBe(0);
  });

  it('sends the header of the environment to the address of the environment only', async () => {
    const { url, type } = await service();
    const [home, stranger] = [await service(), url];
    const seen: unknown[] = [];
    const env = { TICKLESS_URL: home.url, TICKLESS_HEADER: `authorization: ${SECRET}` };
    for (const given of [env, { TICKLESS_HEADER: env.TICKLESS_HEADER }]) {
      const { code, err } = await type(['status', '--url', stranger], { env: given });
      seen.push([code, err]);
    }
    const refused =
      'tickless: TICKLESS_HEADER is sent to the origin of TICKLESS_URL only: set that to the address too\n';
    expect(seen).toEqual([
      [2, refused],
      [2, refused],
    ]);
    expect((await type(['status', '--url', `${home.url}/`], { env })).code).toBe(0);
  });

  it('is 2 where the console refuses, does not answer, or is none, and does not repeat a secret', async () => {
    const { type, url } = await service();
    const env = { TICKLESS_URL: url };
    expect(await type(['status'], { env })).toEqual({
      code: 2,
      out: '',
      err: 'tickless: access is refused\nNo login was sent: set TICKLESS_HEADER, or give --header\n',
    });
    const gone = await type(['status', '--url', 'http://127.0.0.1:1/tickless'], { env });
    expect({ code: gone.code, err: gone.err }).toEqual({
      code: 2,
      err: expect.stringContaining('http://127.0.0.1:1 does not answer'),
    });
    const other = await type(['status', '--url', url.replace('/tickless', '/other')]);
    expect(other.code).toBe(2);
    expect((await type(['status', '--url', 'file:///etc/passwd'])).code).toBe(2);
    const withUser = url.replace('http://', 'http://ann:hunter2@');
    for (const address of [withUser, withUser.replace('http:', 'ftp:'), `x${withUser}`]) {
      const refused = await type(['status', '--url', address], { env });
      expect([refused.code, refused.err.includes('hunter2')]).toEqual([2, false]);
    }
    const malformed = await type(['status', '--header', SECRET]);
    expect([malformed.code, malformed.err.includes('of-ann')]).toEqual([2, false]);
    const empty = await type(['status'], { env: { ...env, TICKLESS_HEADER: '' } });
    expect(empty.err).toContain("TICKLESS_HEADER, or --header, must be 'name: value'");
    expect((await type(['status', '--urll', 'x'])).err).toContain('unknown option');
    expect((await type([], {})).code).toBe(2);
    expect((await type(['--help'])).code).toBe(0);
  });
});

describe('actions', () => {
  it('roll back once the person has said yes, with the history before their eyes', async () => {
    const { type, asked, prices } = await service();
    const history = await type(['history', 'prices']);
    expect(history.out.split('\n')).toHaveLength(4);
    const older = /^(\d+)/m.exec(history.out.split('\n')[2] ?? '')?.[1] ?? '';
    const no = await type(['rollback', 'prices', '--to', older], { answer: false });
    expect([no.code, no.err, prices.peek()?.edition]).toEqual([2, 'tickless: nothing was changed\n', 2]);
    const alone = await type(['rollback', 'prices', '--to', older]);
    expect([alone.code, alone.err.includes('--yes'), prices.peek()?.edition]).toEqual([2, true, 2]);
    const done = await type(['rollback', 'prices', '--to', older, '--hold', '5m', '--reason', 'wrong'], {
      answer: true,
    });
    expect({ code: done.code, edition: prices.peek()?.edition }).toEqual({ code: 0, edition: 1 });
    expect(asked.at(-1)).toBe(
      `Put version ${older} of prices into place on all instances, pinned for 5 min?`,
    );
    expect(done.out).toContain(older);
    expect(prices.inspect().pinned).toMatchObject({ by: 'ann', note: 'wrong' });
    expect((await type(['rollback', 'prices', '--to', 'x', '--yes'])).code).toBe(2);
    expect((await type(['rollback', 'prices', '--yes'])).err).toContain(
      'name the one to put into place with --to',
    );
    expect((await type(['rollback', 'unknown', '--yes'])).err).toContain('there is no member unknown');
  });

  it.each([
    ['rollback', 'prices'],
    ['pin', 'prices'],
  ])('%s: is refused where another version was published than the one that was shown', async (...args) => {
    const { type, asked, prices } = await service();
    const { code, err } = await type(args, { answer: () => prices.refresh() });
    expect([code, err, prices.peek()?.edition]).toEqual([2, expect.stringContaining('look at it again'), 3]);
    expect([asked.length, (await prices.history())[0]?.isPinned]).toEqual([1, false]);
    expect((await type(args, { answer: true })).code).toBe(0);
  });

  it('release a lock, of the holder that was shown', async () => {
    const { type, lock, asked } = await service();
    const owner = { owner: 'o', requestId: 'r', host: 'pod-9' };
    const request = { name: 'stuck', ...owner, leaseFor: 60_000, force: false };
    await lock.acquire(request);
    expect((await type(['locks'])).out).toMatch(/^prices +done .*\nstuck +running +pod-9/m);
    expect((await type(['release', 'stuck', '--token', '1', '--yes'])).code).toBe(2);
    expect((await lock.inspect('stuck'))?.state).toBe('running');
    expect((await type(['release', 'stuck'], { answer: true })).code).toBe(0);
    expect(asked).toEqual([expect.stringMatching(/^pod-9 holds it for another .*Release stuck\?$/)]);
    expect((await lock.inspect('stuck'))?.state).toBe('released');
    expect((await type(['release', 'unknown', '--yes'])).code).toBe(2);
    // Names that look like credentials are shown in part: one is found by it, of two none.
    await lock.acquire({ ...request, name: 'auth:report', requestId: 's' });
    expect((await type(['release', 'auth:report', '--yes'])).code).toBe(0);
    await lock.acquire({ ...request, name: 'auth:report', requestId: 't' });
    await lock.acquire({ ...request, name: 'auth:report2', requestId: 'u' });
    expect((await type(['release', 'auth:report', '--yes'])).err).toContain('could be several locks');
    expect((await lock.inspect('auth:report'))?.state).toBe('running');
  });
});
