import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { mountConsole } from '../../../examples/demo/console.ts';
import { consoleHandler } from '../../../src/console/index.ts';
import { type NodeConsole, nodeConsole } from '../../../src/console/node.ts';
import { RefreshGroup } from '../../../src/index.ts';

const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

function made() {
  const group = new RefreshGroup({ logger: false });
  let loads = 0;
  group.value({ name: 'v', load: () => (loads += 1) });
  return { group, loads: () => loads };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closes.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return portOf(server);
}

/** The page, a read, an action and a live stream, as a browser uses them. */
async function use(port: number, path: string): Promise<void> {
  const base = `http://127.0.0.1:${port}${path}`;
  const page = await fetch(base); // is redirected
  expect([page.status, page.url, (await page.text()).includes('app.js')]).toEqual([200, `${base}/`, true]);
  const { token } = (await (await fetch(`${base}/api/session`)).json()) as { token: string };
  const headers = {
    'content-type': 'application/json',
    'x-tickless-token': token,
    origin: new URL(base).origin,
  };
  const acted = await fetch(`${base}/api/actions/refresh`, { method: 'POST', headers, body: '{"id":"v"}' });
  expect([acted.status, await acted.json()]).toEqual([200, { result: 'done', message: 'loaded' }]);
  const ending = new AbortController();
  const live = await fetch(`${base}/api/live`, { signal: ending.signal });
  const { value } = await (live.body as ReadableStream<Uint8Array>).getReader().read();
  expect(new TextDecoder().decode(value)).toContain('retry:');
  ending.abort();
}

it.each(['/tickless', '/admin/tickless'])(
  'names no path of its own before the one it is at, so that a proxy may strip a prefix: %s',
  async (path) => {
    const group = new RefreshGroup({ logger: false });
    const served = nodeConsole(group, { authorize: () => 'ann', path });
    const port = await listening(createServer(served));
    closes.push(() => served.close());
    const proxy = createServer((request, response) => {
      const url = request.url ?? '';
      if (!url.startsWith('/ops/')) return void response.writeHead(404).end();
      void fetch(`http://127.0.0.1:${port}${url.slice(4)}`, { redirect: 'manual' }).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      });
    });
    const base = `http://127.0.0.1:${await listening(proxy)}/ops${path}`;
    const page = await fetch(base);
    expect([page.status, page.url]).toEqual([200, `${base}/`]);
    for (const [, asset] of (await page.text()).matchAll(/(?:href|src)="([^":]+)"/g))
      expect((await fetch(new URL(asset as string, page.url))).status, asset).toBe(200);
  },
);

describe('the console is mounted', () => {
  const options = { authorize: () => 'ann', actions: true } as const;

  it('on node:http, and answers others with 404', async () => {
    const { group, loads } = made();
    const console = nodeConsole(group, options);
    const port = await listening(createServer(console));
    await use(port, '/tickless');
    expect([(await fetch(`http://127.0.0.1:${port}/other`)).status, loads()]).toEqual([404, 1]);
    await console.close();
  });

  it('in Express, at a path of its own, with the request of Express as context', async () => {
    const { group } = made();
    const seen = new Set<unknown>();
    const authorize = (_: Request, context: unknown): string => {
      seen.add((context as { session?: string }).session);
      return 'ann';
    };
    const app = express();
    app.use((given, _, next) => {
      Object.assign(given, { session: 'of ann' });
      next();
    });
    const console = nodeConsole(group, { ...options, authorize, path: '/admin/data' });
    app.use('/admin', console);
    app.get('/', (_, response) => void response.send('home'));
    const port = await listening(createServer(app));
    await use(port, '/admin/data');
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('home');
    expect([...seen]).toEqual(['of ann']);
    await console.close();
  });

  for (const [parser, middleware] of [
    ['json', express.json()],
    ['text', express.text({ type: 'application/json' })],
    ['raw', express.raw({ type: 'application/json' })],
  ] as const) {
    it(`in Express behind its parser ${parser}, which has read the body`, async () => {
      const { group, loads } = made();
      const console = nodeConsole(group, options);
      const app = express();
      app.use(middleware, console);
      await use(await listening(createServer(app)), '/tickless');
      expect(loads()).toBe(1);
      await console.close();
    });
  }

  it.each(['before', 'behind'])('in Fastify %s its parser', async (where) => {
    const { group } = made();
    const console = nodeConsole(group, options);
    const app = Fastify();
    if (where === 'before') {
      app.removeAllContentTypeParsers(); // the console reads bodies itself
      app.addContentTypeParser('*', (_, __, done) => done(null));
    }
    app.all('/tickless*', (given, reply) => {
      reply.hijack();
      console(where === 'before' ? given.raw : Object.assign(given.raw, { body: given.body }), reply.raw);
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    closes.push(
      () => app.server.closeAllConnections(),
      () => app.close(),
    );
    await use(portOf(app.server), '/tickless');
    await console.close();
  });

  it('in Hono', async () => {
    const { group } = made();
    const handler = consoleHandler(group, options);
    const app = new Hono();
    app.all('/tickless/*', (context) => handler(context.req.raw, context));
    app.all('/tickless', (context) => handler(context.req.raw, context));
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    await new Promise<void>((resolve) => (server.listening ? resolve() : server.once('listening', resolve)));
    closes.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    await use(portOf(server), '/tickless');
    await handler.close();
  });

  describe('so that a server with an open page closes:', () => {
    /** Opens a page, closes the server, and waits for the end of both. */
    async function closed(port: number, close: () => Promise<unknown>): Promise<void> {
      const live = await fetch(`http://127.0.0.1:${port}/tickless/api/live`);
      const read = live.text().catch(() => 'cut');
      await close();
      expect(await read).toContain('retry:'); // it has ended in order
    }

    it('Fastify, with the mounting of the demo', async () => {
      const app = Fastify();
      mountConsole(app, made().group as never);
      await app.listen({ port: 0, host: '127.0.0.1' });
      closes.push(() => app.server.closeAllConnections());
      await closed(portOf(app.server), () => app.close());
    });

    for (const [name, listener] of [
      ['node:http', (console: NodeConsole) => console],
      ['Express', (console: NodeConsole) => express().use(console)],
    ] as const) {
      it(name, async () => {
        const console = nodeConsole(made().group, options);
        const server = createServer(listener(console) as never);
        const port = await listening(server);
        await closed(port, async () => {
          await console.close();
          await new Promise((resolve) => server.close(resolve));
        });
      });
    }
  });

  it('so that a closed page ends its stream', async () => {
    const { group } = made();
    const console = nodeConsole(group, { ...options, refreshEvery: 250 });
    const server = createServer(console);
    const port = await listening(server);
    for (let pages = 0; pages < 12; pages++) {
      const ending = new AbortController();
      const live = await fetch(`http://127.0.0.1:${port}/tickless/api/live`, { signal: ending.signal });
      expect(live.status).toBe(200); // at most 10 of one operator are open
      ending.abort();
      await expect
        .poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count))))
        .toBeLessThan(3);
    }
    await console.close();
  });

  it('on HTTP/2', async () => {
    const { group } = made();
    const console = nodeConsole(group, options);
    const server = createHttp2Server((given, reply) => console(given as never, reply as never));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    closes.push(
      () => client.close(),
      () => server.close(),
    );
    const stream = client.request({ ':path': '/tickless/api/session', cookie: 'a=b' });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect([headers[':status'], headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    stream.resume();
    await once(stream, 'end');
    await console.close();
  });

  /** @returns what the server answers until it ends the connection, or was silent for a while. */
  async function raw(port: number, ...parts: readonly string[]): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let answered = '';
    socket.setEncoding('latin1').on('data', (text) => (answered += text));
    const ended = once(socket, 'close');
    socket.on('error', () => {}).setTimeout(500, () => socket.destroy());
    for (const part of parts) {
      socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, 20)); // a packet of its own
    }
    await ended;
    return answered;
  }
  const get = (path: string, host = 'a.example'): string => `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n`;

  for (const host of [
    'a b',
    'a/tickless/api/session?',
    'a\\tickless\\api\\session?',
    'a@b',
    'a?',
    'a:123456',
    '',
  ]) {
    it(`and refuses the host '${host}', whatever the path is`, async () => {
      const port = await listening(createServer(nodeConsole(made().group, options)));
      const answered = await raw(port, `${get('/tickless/other', host)}connection: close\r\n\r\n`);
      expect(answered).toMatch(/^HTTP\/1.1 400 /);
    });
  }

  it('and has nothing at a path that leads to it by dots, nor by the host', async () => {
    const port = await listening(createServer(nodeConsole(made().group, options)));
    for (const path of [
      '/public/../tickless/api/session',
      '/public/%2e%2e/tickless/api/session',
      '//tickless/',
    ]) {
      expect(await raw(port, `${get(path)}connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 404 /);
    }
    const answered = await raw(port, `${get('/public', 'a/tickless/api/session?')}connection: close\r\n\r\n`);
    expect(answered).toMatch(/^HTTP\/1.1 404 /);
  });

  it('so that a response of authorize which can not be sent ends that request, not the process', async () => {
    const used = new Response('log in', { status: 401 });
    const port = await listening(createServer(nodeConsole(made().group, { authorize: () => used })));
    const ask = () => raw(port, `${get('/tickless/')}connection: close\r\n\r\n`);
    expect([(await ask()).slice(9, 12), (await ask()).slice(9, 12)]).toEqual(['401', '500']);
  });

  it('with each cookie of a response of authorize', async () => {
    const headers: [string, string][] = [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ];
    const authorize = (): Response => new Response('log in', { status: 401, headers });
    const port = await listening(createServer(nodeConsole(made().group, { authorize })));
    expect((await fetch(`http://127.0.0.1:${port}/tickless/`)).headers.getSetCookie()).toEqual([
      'a=1',
      'b=2',
    ]);
  });

  for (const [what, authorize] of [
    ['refused', () => undefined],
    ['too long', () => 'ann'],
  ] as const) {
    it(`so that a body that is ${what} harms neither the process nor the next request`, async () => {
      const port = await listening(createServer(nodeConsole(made().group, { ...options, authorize })));
      const session = await fetch(`http://127.0.0.1:${port}/tickless/api/session`);
      const { token } = (await session.json()) as { token?: string };
      const head = `POST /tickless/api/actions/refresh HTTP/1.1\r\nhost: a.example\r\ncontent-type: application/json\r\nx-tickless-token: ${token}\r\n`;
      const long = `${head}content-length: 600000\r\n\r\n${'x'.repeat(600_000)}`;
      const answered = await raw(port, long, `${get('/tickless/')}\r\n`);
      expect(answered.match(/HTTP\/1.1 \d+/g)).toHaveLength(2);
      await raw(port, `${head}content-length: 600000\r\n\r\n${'x'.repeat(300_000)}`); // and goes away
      await raw(port, `${head}content-length: 100\r\n\r\n{`);
      expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
    });
  }
});
