import { describe, expect, it, vi } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  type AuditRecord,
  type Authorized,
  type ConsoleOptions,
  consoleHandler,
} from '../../../src/console/index.ts';
import { RefreshGroup, type TicklessError } from '../../../src/index.ts';
import { answerOf, BASE, TestConsole } from '../../support/console.ts';
import { optionsIn } from '../../support/option-errors.ts';
import { thrownBy } from '../../support/settle.ts';

const EVERYTHING = [
  '',
  'app.js',
  'app.css',
  ...[
    'session',
    'overview',
    'member?id=v',
    'keys?id=c',
    'compare?id=v&before=1&after=2',
    'locks',
    'audit',
    'live',
    'schema',
  ].map((path) => `api/${path}`),
];

function withValue(options: ConsoleOptions = {}): TestConsole & { loads: number } {
  const made = Object.assign(new TestConsole(options), { loads: 0 });
  made.group.value({
    name: 'v',
    load: () => {
      made.loads += 1;
      return { content: 'in the value' };
    },
  });
  return made;
}

describe('access', () => {
  it('is refused without authorize, by a text that says how to set it', async () => {
    const handler = consoleHandler(new RefreshGroup(), { actions: true });
    for (const path of EVERYTHING) {
      const { status, text } = await answerOf(await handler(new Request(new URL(path, BASE))));
      expect({ path, status }).toEqual({ path, status: 403 });
      expect(text).toContain('consoleHandler(group, { authorize:');
    }
  });

  const fails = (): never => {
    throw new Error('user ann has no role');
  };
  const refusals: readonly [string, () => Authorized | Promise<Authorized>][] = [
    ['undefined', () => undefined],
    ['null', () => null],
    ['false', () => false],
    ['an empty name', () => ' '],
    ['no name', () => ({ by: undefined as never })],
    ['true, which is no name', () => true as never],
    ['a name that can not be read', () => Object.defineProperty({ by: 'ann' }, 'by', { get: fails })],
    [
      'rights that can not be read',
      () => Object.defineProperty({ by: 'ann', actions: 0 }, 'actions', { get: fails }) as never,
    ],
    ['a rejection', () => Promise.reject(new Error('user ann has no role'))],
    ['an error', fails],
  ];
  for (const [what, authorize] of refusals) {
    it(`is refused by ${what}, to all paths alike, without a reason`, async () => {
      const found = withValue({ authorize, actions: true });
      for (const path of EVERYTHING) {
        const { status, text } = await found.get(path);
        expect({ path, status }).toEqual({ path, status: 403 });
        expect(text).not.toContain('ann');
      }
      const asked = new Request(new URL('api/actions/refresh', BASE), { method: 'POST', body: '{"id":"v"}' });
      expect((await found.handler(asked)).status).toBe(403);
      expect(found.loads).toBe(0);
    });
  }

  it('may be answered by a response of authorize, which gets the request and the context', async () => {
    const seen: unknown[] = [];
    const authorize = (request: Request, context: unknown): Response => {
      seen.push(request.headers.get('cookie'), context);
      return new Response('log in', { status: 401 });
    };
    const { handler } = new TestConsole({ authorize });
    const response = await handler(new Request(BASE, { headers: { cookie: 'a=1' } }), 'context');
    expect({ status: response.status, seen }).toEqual({ status: 401, seen: ['a=1', 'context'] });
  });

  it('shows nothing outside of its path, and nothing by other methods', async () => {
    const found = withValue();
    expect((await found.get('http://admin.example/ticklessly/api/overview')).status).toBe(404);
    expect((await found.get('/')).status).toBe(404);
    expect((await found.get('..%2f..%2fetc/passwd')).status).toBe(404);
    expect((await found.get('__proto__')).status).toBe(404);
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      expect((await found.get('api/overview', {}, { method })).status).toBe(405);
    }
    const head = await found.get('api/live', {}, { method: 'HEAD' });
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' });
  });
});

describe('actions', () => {
  it('are refused by default: the console is read-only', async () => {
    const found = withValue();
    const { status, body } = await found.act('refresh', { id: 'v' });
    expect([status, body.error.code, found.loads]).toEqual([403, 'read-only', 0]);
    expect((await found.get('api/session')).body.actions).toEqual([]);
  });

  it('are those of the list, less what the operator may not', async () => {
    const authorize = (request: Request) =>
      request.headers.get('cookie') === 'bob'
        ? { by: 'bob', actions: ['pause', 'rollback'] as const }
        : 'ann';
    const found = withValue({ actions: ['refresh', 'pause'], authorize });
    expect((await found.act('refresh', { id: 'v' })).status).toBe(200);
    expect((await found.act('invalidate', { id: 'v' })).status).toBe(403);
    expect((await found.get('api/session', { cookie: 'bob' })).body.actions).toEqual(['pause']);
    const { token } = (await found.get('api/session', { cookie: 'bob' })).body;
    const headers = { cookie: 'bob', 'x-tickless-token': token };
    expect((await found.post('api/actions/refresh', { id: 'v' }, headers)).status).toBe(403);
    expect((await found.post('api/actions/pause', { id: 'v' }, headers)).status).toBe(200);
    expect(found.loads).toBe(1);
  });

  it('are refused to an operator with actions: false, with rights that were not found, or with what is no list', async () => {
    const odd = withValue({ actions: true, authorize: () => ({ by: 'bob', actions: 'refresh' as never }) });
    expect((await odd.act('refresh', { id: 'v' })).status).toBe(403);
    for (const actions of [false, undefined, null as never]) {
      const found = withValue({ actions: true, authorize: () => ({ by: 'bob', actions }) });
      expect([(await found.act('refresh', { id: 'v' })).status, found.loads]).toEqual([403, 0]);
    }
    const all = withValue({ actions: true, authorize: () => ({ by: 'bob' }) });
    expect((await all.act('refresh', { id: 'v' })).status).toBe(200);
  });

  it('are not carried out by GET', async () => {
    const found = withValue({ actions: true });
    expect((await found.get('api/actions/refresh?id=v')).status).toBe(404);
    expect(found.loads).toBe(0);
  });

  const forged: readonly [string, Readonly<Record<string, string>>][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['another port', { origin: 'http://admin.example:81' }],
    ['a host that begins alike', { origin: 'http://admin.example.evil.example' }],
    ['another site, without an origin', { origin: '', 'sec-fetch-site': 'cross-site' }],
    ['another subdomain', { 'sec-fetch-site': 'same-site' }],
    ['a page without the token', { 'x-tickless-token': '' }],
    ['a page with a made up token', { 'x-tickless-token': `${Date.now() + 1000}.${'0'.repeat(64)}` }],
    ['a form', { 'content-type': 'text/plain' }],
    ['a form with a hint of JSON', { 'content-type': 'text/plain; application/json' }],
  ];
  for (const [who, headers] of forged) {
    it(`are refused to ${who}`, async () => {
      const found = withValue({ actions: true });
      const { status } = await found.post('api/actions/refresh', { id: 'v' }, headers);
      expect([[400, 403].includes(status), found.loads]).toEqual([true, 0]);
    });
  }

  it('need a token of the same operator, of this console, that is not over', async () => {
    const found = withValue({
      actions: true,
      authorize: (request) => request.headers.get('cookie') ?? 'ann',
    });
    const { token } = (await found.get('api/session', { cookie: 'bob' })).body;
    const of = (own: string) => found.post('api/actions/refresh', { id: 'v' }, { 'x-tickless-token': own });
    expect((await of(token)).status).toBe(403);
    const other = (await withValue().get('api/session')).body.token;
    expect((await of(other)).status).toBe(403);
    const own = (await found.get('api/session')).body.token as string;
    const [until, signature] = own.split('.');
    expect((await of(`${Number(until) - 1000}.${signature}`)).status).toBe(403);
    expect((await of(own)).status).toBe(200);
  });

  it('take the token of another instance with the same secret, until it is over', async () => {
    const secret = 'a secret of 32 characters or more';
    const [one, other] = [withValue({ secret, actions: true }), withValue({ secret, actions: true })];
    const { token } = (await one.get('api/session')).body;
    const post = () => other.post('api/actions/refresh', { id: 'v' }, { 'x-tickless-token': token });
    expect((await post()).status).toBe(200);
    const { now } = Date;
    try {
      Date.now = () => now() + 12 * 3_600_000;
      expect((await post()).status).toBe(403);
    } finally {
      Date.now = now;
    }
  });

  it('of another host are refused where origin is set, also reads', async () => {
    const found = withValue({ actions: true, origin: 'https://admin.example' });
    expect((await found.get('http://rebound.example/tickless/api/overview')).status).toBe(403);
    expect((await found.act('refresh', { id: 'v' })).status).toBe(403); // by http
    const headers = { origin: 'https://admin.example' };
    expect((await found.post('api/actions/refresh', { id: 'v' }, headers)).status).toBe(200);
  });

  it('leave an audit record, done, failed or refused', async () => {
    const records: AuditRecord[] = [];
    const found = withValue({ actions: ['refresh'], onAudit: (record) => void records.push(record) });
    found.group.value({ name: 'down', load: () => Promise.reject(new Error('ECONNREFUSED')) });
    await found.act('refresh', { id: 'v', note: 'why not' });
    await found.act('refresh', { id: 'down' });
    await found.act('refresh', { id: 'unknown' });
    await found.act('pause', { id: 'v' });
    const { records: shown } = (await found.get('api/audit')).body;
    expect(shown).toEqual([...records].reverse());
    expect(records).toMatchObject([
      { by: 'ann', action: 'refresh', name: 'v', note: 'why not', result: 'done' },
      { name: 'down', result: 'failed', message: expect.stringContaining('ECONNREFUSED') },
      { name: 'unknown', result: 'refused' },
      { action: 'pause', result: 'refused' },
    ]);
    expect(records.every(({ at, host }) => Math.abs(at - Date.now()) < 60_000 && host !== '')).toBe(true);
  });
});

describe('the audit', () => {
  it('has no "here" of an action that can not be narrowed: that is refused', async () => {
    const records: AuditRecord[] = [];
    const found = withValue({ actions: true, onAudit: (record) => void records.push(record) });
    for (const action of ['cancel', 'pin', 'unpin', 'rollback', 'release-lock']) {
      expect((await found.act(action, { id: 'v', here: true, token: 1 })).status).toBe(400);
    }
    expect(records).toEqual([]);
  });

  it('has no gap by an id or a key that is no text: it is refused before anything is done', async () => {
    const records: AuditRecord[] = [];
    const found = withValue({ actions: true, onAudit: (record) => void records.push(record) });
    for (const body of [
      { id: { toString: 1 } },
      { id: ['v'] },
      { id: 'v', key: { toString: 1, valueOf: 1 } },
    ]) {
      expect((await found.act('refresh', body)).status).toBe(400);
      expect((await found.act('release-lock', { ...body, lock: 0, token: 1 })).status).toBe(400);
    }
    expect({ loads: found.loads, records }).toEqual({ loads: 0, records: [] });
  });

  it('keeps what was done, whatever a read-only operator tries', async () => {
    const authorize = (request: Request): Authorized =>
      request.headers.get('cookie') === 'bob' ? { by: 'bob', actions: false } : 'ann';
    for (const backend of [undefined, memoryBackend()]) {
      const found = withValue({ actions: true, authorize, backend });
      await found.act('refresh', { id: 'v' });
      const { token } = (await found.get('api/session', { cookie: 'bob' })).body;
      const headers = { cookie: 'bob', 'x-tickless-token': token };
      const { now } = performance;
      for (let at = 0; at < 210; at++) {
        performance.now = () => now.call(performance) + at * 1000; // one a second
        await found.handler(
          new Request(new URL('api/actions/refresh', BASE), {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body: '{"id":"v"}',
          }),
        );
      }
      const { records } = (await found.get('api/audit')).body;
      performance.now = now;
      const done = records.filter(({ result }: AuditRecord) => result === 'done');
      expect({ records: records.length, done: done.length }).toEqual({ records: 51, done: 1 });
      await found.handler.close();
    }
  });

  it('has no line or control character of an operator', async () => {
    const records: AuditRecord[] = [];
    const authorize = (): string => 'ann\nbob';
    const found = withValue({ actions: true, authorize, onAudit: (record) => void records.push(record) });
    await found.act('refresh', { id: 'v', note: 'why\n2026 root: done \u001b[2J' });
    await found.act('refresh', { id: 'no\u0007 such', note: '\u202e' });
    expect(records).toHaveLength(2);
    expect(records.flatMap((record) => Object.values(record)).join()).not.toMatch(/[\p{Cc}\u202e]/u);
  });
});

describe('what is shown', () => {
  it('has no value without showValue', async () => {
    const found = withValue();
    await (found.group.members()[0] as never as { member: { get(): Promise<unknown> } }).member.get();
    for (const path of ['api/overview', 'api/member?id=v', 'api/session']) {
      expect((await found.get(path)).text).not.toContain('in the value');
    }
  });

  it('has of a value what showValue returns, and none where it throws', async () => {
    const about: unknown[] = [];
    const showValue = (value: unknown, of: unknown): unknown => {
      about.push(of);
      if ((of as { name: string }).name === 'broken') throw new Error('no');
      return Object.keys(value as object);
    };
    const found = withValue({ showValue });
    const broken = found.group.value({ name: 'broken', load: () => ({ content: 'in the value' }) });
    await broken.get();
    await (found.group.members()[0] as never as { member: { get(): Promise<unknown> } }).member.get();
    expect(JSON.parse((await found.get('api/member?id=v')).body.value)).toEqual(['content']);
    expect(about).toEqual([{ name: 'v' }]);
    const { body, text } = await found.get('api/member?id=broken');
    expect([body.value, text.includes('in the value')]).toEqual([undefined, false]);
  });

  it('is at most 64 kB of a value', async () => {
    const found = new TestConsole({ showValue: (value) => value });
    await found.group.value({ name: 'v', load: () => 'x'.repeat(1_000_000) }).get();
    expect((await found.get('api/member?id=v')).body.value.length).toBe(65_536);
  });

  it('has no credentials of an error, wherever it comes up', async () => {
    const found = new TestConsole({ actions: true });
    const cause = new Error('redis://:hunter2@10.0.0.1: ECONNREFUSED, password=hunter2');
    const long = `https://${'hunter2'.repeat(600)}@10.0.0.1`; // wherever it is cut
    const error = new Error(`${'words '.repeat(100)} ${long}\nAuthorization: Bearer hunter2`, { cause });
    await found.group
      .value({ name: 'v', load: () => Promise.reject(error) })
      .get()
      .catch(() => {});
    const answers = [
      await found.act('refresh', { id: 'v', note: 'token=hunter2' }),
      await found.get('api/overview'),
      await found.get('api/member?id=v'),
      await found.get('api/audit'),
    ];
    for (const { text } of answers) expect(text).not.toContain('hunter');
    expect(answers[2]?.body.error.cause.cause.message).toContain('10.0.0.1: ECONNREFUSED');
  });

  it('has all names of members, and ids for all of them and their keys, whatever these look like', async () => {
    const found = new TestConsole({ actions: true });
    const names = ['auth:users', 'auth:roles', 'token=abc'];
    for (const name of names) found.group.value({ name, load: () => 1 });
    const { members } = (await found.get('api/overview')).body;
    expect(members.map(({ name }: { name: string }) => name)).toEqual(names);
    for (const { id, name } of members) {
      expect((await found.get(`api/member?id=${encodeURIComponent(id)}`)).body?.name).toBe(name);
      expect((await found.act('refresh', { id })).status).toBe(200);
    }
    const { records } = (await found.get('api/audit')).body;
    expect(records.map(({ name }: { name: string }) => name)).toEqual([...names].reverse());
    const cache = found.group.cache({
      name: 'c',
      load: (key: object) => key,
      keyOf: (key) => JSON.stringify(key),
    });
    for (const password of ['hunter2', 'hunter3']) await cache.get({ password });
    const { body, text } = await found.get('api/keys?id=c&search=password');
    expect([body.keys.length, text.includes('hunter')]).toEqual([2, false]);
    for (const { id } of body.keys) {
      expect((await found.get(`api/member?id=c&key=${encodeURIComponent(id)}`)).status).toBe(200);
    }
  });

  it('is sent with headers that keep it here: no script but its own, no frame, no cache, no sniffing', async () => {
    const found = withValue();
    for (const path of EVERYTHING.filter((one) => one !== 'api/live')) {
      const { headers } = await found.get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('cache-control')).toMatch(/no-store|no-cache/);
    }
  });

  it('is a page without inline script or style, and without a name of anything', async () => {
    const found = new TestConsole();
    found.group.value({ name: '<script>alert(1)</script>', load: () => 1 });
    const { text, headers } = await found.get('');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="app.js">']);
    expect(text).not.toMatch(/<style|style=|\son\w+=|alert/);
    expect((await found.get('api/overview')).headers.get('content-type')).toContain('application/json');
  });

  it('is refused to a page of another site that reads the API, but opens by a link', async () => {
    const found = withValue();
    const site = { 'sec-fetch-site': 'cross-site' };
    expect((await found.get('api/overview', { ...site, 'sec-fetch-mode': 'cors' })).status).toBe(403);
    expect((await found.get('app.js', { ...site, 'sec-fetch-mode': 'no-cors' })).status).toBe(403);
    const link = { ...site, 'sec-fetch-mode': 'navigate' };
    expect((await found.get('', { ...link, 'sec-fetch-dest': 'iframe' })).status).toBe(403);
    expect((await found.get('', { ...link, 'sec-fetch-dest': 'document' })).status).toBe(200);
  });
});

describe('bounds', () => {
  it('refuse a body of more than 16 kB, before it is read to its end', async () => {
    const found = withValue({ actions: true });
    const large = { id: 'v', note: 'x'.repeat(20_000) };
    expect((await found.act('refresh', large)).body.error.message).toContain('16384');
    let pulled = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(8192));
      },
    });
    const { token } = (await found.get('api/session')).body;
    const headers = { 'content-type': 'application/json', 'x-tickless-token': token };
    const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
    expect((await found.handler(new Request(new URL('api/actions/refresh', BASE), init))).status).toBe(400);
    expect([pulled < 6, found.loads]).toEqual([true, 0]);
  });

  it('refuse what is no JSON object, an unknown field, and arguments out of range', async () => {
    const bodies = ['', 'x', '[]', 'null', '"v"', '{"id":"v","then":1}', '{"id":"v","here":"yes"}'];
    const ranges = [
      { version: -1 },
      { version: 1.5 },
      { holdMs: 0 },
      { everyMs: 1e99 },
      { everyMs: 999 },
      { note: 'x'.repeat(501) },
    ];
    for (const body of [...bodies, ...ranges.map((range) => ({ id: 'v', ...range }))]) {
      const found = withValue({ actions: true });
      expect([body, (await found.post('api/actions/refresh', body)).status]).toEqual([body, 400]);
      expect(found.loads).toBe(0);
    }
    expect((await withValue({ actions: true }).act('constructor', { id: 'v' })).status).toBe(400);
  });

  it('limit the actions of an operator, and not those of another', async () => {
    const authorize = (request: Request): string => request.headers.get('cookie') ?? 'ann';
    const found = withValue({ actions: true, authorize });
    const statuses: number[] = [];
    for (let at = 0; at < 23; at++) statuses.push((await found.act('resume', { id: 'v' })).status);
    expect({ first: statuses[0], last: statuses.at(-1) }).toEqual({ first: 200, last: 429 });
    expect((await found.get('api/overview')).status).toBe(200);
    const { token } = (await found.get('api/session', { cookie: 'bob' })).body;
    const headers = { cookie: 'bob', 'x-tickless-token': token };
    expect((await found.post('api/actions/resume', { id: 'v' }, headers)).status).toBe(200);
  });

  it('let few searches of an operator wait at a time, and those of another go on', async () => {
    const authorize = (request: Request): string => request.headers.get('cookie') ?? 'ann';
    const found = withValue({ authorize });
    const cache = found.group.cache({ name: 'c', load: (key: string) => key });
    for (let at = 0; at < 3000; at++) cache.set(`key ${at}`, 'x');
    const paths = ['api/keys?id=c&search=x', 'api/member?id=c&key=%23x'];
    const all = Array.from({ length: 30 }, (_, at) => found.get(paths[at % 2] as string));
    const other = found.get('api/compare?id=v&before=1&after=2', { cookie: 'bob' });
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect([statuses.filter((status) => status !== 429).length, (await other).status]).toEqual([4, 400]);
    const compares = Array.from({ length: 6 }, () => found.get('api/compare?id=v&before=1&after=2'));
    expect((await Promise.all(compares)).map(({ status }) => status).sort()).toEqual([
      400, 400, 400, 400, 429, 429,
    ]);
    expect((await found.get('api/keys?id=c&search=key')).body.matching).toBe(3000);
  });

  it('spend a part of the time only on overviews that take long, whoever asks for them how often', async () => {
    const found = withValue();
    const { inspect } = found.group;
    const inspected = vi.spyOn(found.group, 'inspect').mockImplementation((...args) => {
      const until = performance.now() + 60;
      while (performance.now() < until); // many members
      return inspect.apply(found.group, args);
    });
    await Promise.all(Array.from({ length: 10 }, () => found.get('api/overview')));
    expect(inspected).toHaveBeenCalledTimes(1);
    for (let at = 0; at < 10; at++) expect((await found.get('api/overview')).body.members).toHaveLength(1);
    expect(inspected).toHaveBeenCalledTimes(1);
    const { now } = performance;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 60_000);
    await found.get('api/overview');
    vi.restoreAllMocks();
    expect(inspected).toHaveBeenCalledTimes(2);
  });

  it('tell operators apart by all of their names, however long these are', async () => {
    const [ann, bob] = ['ann', 'bob'].map((end) => `${'x'.repeat(500)}${end}`) as [string, string];
    const authorize = (request: Request): string => request.headers.get('cookie') ?? ann;
    const found = withValue({ actions: true, authorize });
    const { token } = (await found.get('api/session', { cookie: bob })).body;
    const headers = { 'x-tickless-token': token };
    expect((await found.post('api/actions/refresh', { id: 'v' }, headers)).status).toBe(403);
    let status = 200;
    for (let at = 0; at < 70; at++) ({ status } = await found.get('api/session'));
    expect(status).toBe(429); // the reads of an operator are limited
    const own = await found.get('api/session', { cookie: bob });
    expect({ status: own.status, by: own.body.by.length }).toEqual({ status: 200, by: 200 });
  });

  it('limit the open pages of an operator', async () => {
    const found = withValue();
    const open = () => found.handler(new Request(new URL('api/live', BASE)));
    const responses: Response[] = [];
    for (let at = 0; at < 11; at++) responses.push(await open());
    expect(responses.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    await responses[0]?.body?.cancel();
    expect((await open()).status).toBe(200);
    await found.handler.close();
  });

  it('hold for names: 10,000 characters, from right to left, with half a character', async () => {
    const found = new TestConsole();
    const names = [
      'x'.repeat(10_000),
      '\u202egnp.exe',
      '__proto__',
      'constructor',
      '"><img src=x onerror=alert(1)>',
    ];
    for (const name of names) await found.group.value({ name, load: () => 1 }).get();
    const { members } = (await found.get('api/overview')).body;
    expect(members.map(({ name }: { name: string }) => name)).toEqual(names);
    for (const { id, name } of members) {
      expect(id.length).toBeLessThan(250);
      expect((await found.get(`api/member?id=${encodeURIComponent(id)}`)).body.name).toBe(name);
    }
  });
});

describe('options', () => {
  it('take a path without empty parts, which a redirect could lead elsewhere with', async () => {
    for (const path of ['//evil.example', '/a//b', 'a', '/a?b', '/a b', '']) {
      expect(() => consoleHandler(new RefreshGroup(), { path })).toThrow('path must begin with /');
    }
    for (const path of ['/', '/a', '/a/', '/a/b-c.d']) {
      const handler = consoleHandler(new RefreshGroup(), { path, authorize: () => 'ann' });
      const at = new URL(`${path.replace(/\/$/, '')}/api/overview`, BASE);
      expect({ path, status: (await handler(new Request(at))).status }).toEqual({ path, status: 200 });
    }
  });

  it('are checked all at once', () => {
    const texts = { path: 'x', origin: 'example', secret: 'short' };
    const others = { authorize: 1, actions: ['fly'], locks: [1], refreshEvery: 1, backend: {}, shwoValue: 1 };
    const wrong = { ...texts, ...others };
    const error = thrownBy(() => consoleHandler(new RefreshGroup(), wrong as never));
    expect(optionsIn(error).sort()).toEqual(Object.keys(wrong).sort());
    expect((error as TicklessError).message).not.toContain('short');
    expect(() => consoleHandler(new RefreshGroup(), null as never)).toThrow(
      expect.objectContaining({ code: 'OPTION' }),
    );
  });
});
