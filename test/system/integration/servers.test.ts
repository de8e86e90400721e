import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFixture } from './support/child.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import type { RealServer, ServerKind } from './support/servers.ts';

interface Session {
  ask(): Promise<unknown>;
  keep(): Promise<unknown>;
  kept(): Promise<boolean>;
  end(): unknown;
}

async function redis(url: string): Promise<Session> {
  const client = new Redis(url, { retryStrategy: null, enableReadyCheck: false });
  client.on('error', () => {});
  await client.ping();
  return {
    ask: () => client.eval("return redis.call('incr', 'a') + redis.call('incr', 'b')", 0),
    keep: () => client.set('kept', '1'),
    kept: async () => (await client.exists('kept')) === 1,
    end: () => client.disconnect(),
  };
}

async function postgres(url: string): Promise<Session> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  let i = 0;
  return {
    // In turns by the simple and by the extended protocol.
    ask: () => (i++ % 2 === 0 ? client.query("select '\n'") : client.query('select $1::int', [1])),
    keep: () => client.query('create table kept (a int)'),
    kept: async () => (await client.query("select to_regclass('kept') as t")).rows[0].t !== null,
    end: () => client.end().catch(() => {}),
  };
}

async function mariadb(url: string): Promise<Session> {
  const client = await createConnection(url);
  client.on('error', () => {});
  let i = 0;
  return {
    ask: () => (i++ % 2 === 0 ? client.query('select ?', [1]) : client.execute('select ? + 1', [1])),
    keep: () => client.query('create table kept (a int)'),
    kept: async () => ((await client.query("show tables like 'kept'"))[0] as unknown[]).length > 0,
    end: () => client.destroy(),
  };
}

function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(true));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

async function isAnswered(asked: Promise<unknown>, ms: number): Promise<boolean> {
  const late = new Promise<false>((resolve) => setTimeout(resolve, ms, false));
  return Promise.race([asked.then(() => true), late]);
}

const SESSIONS: Readonly<Record<ServerKind, (url: string) => Promise<Session>>> = {
  redis,
  postgres,
  mariadb,
};

describe.each(ownKinds)('a server of our own: %s', (kind) => {
  const session = SESSIONS[kind];
  let server: RealServer;
  beforeAll(async () => {
    server = await startOwn(kind);
  });
  afterAll(() => server?.close());

  it('counts what clients send, whatever that does inside', async () => {
    const client = await session(server.url);
    const before = await server.commandsServed();
    for (let i = 0; i < 5; i++) await client.ask();
    expect((await server.commandsServed()) - before).toBe(5);
    await Promise.all([client.ask(), client.ask()]);
    expect((await server.commandsServed()) - before).toBe(7);
    expect((await server.commandsServed()) - before).toBe(7);
    await client.end();
  });

  it('answers nothing while it is frozen, and all afterwards', async () => {
    const client = await session(server.url);
    server.freeze();
    const asked = client.ask();
    const opened = session(server.url);
    expect(await isAnswered(asked, 300)).toBe(false);
    expect(await isAnswered(opened, 100)).toBe(false);
    expect(await refuses(server.port)).toBe(false);
    server.thaw();
    await asked;
    await (await opened).end();
    const thawed = server.freezeFor(200);
    expect(await isAnswered(client.ask(), 100)).toBe(false);
    await thawed;
    await client.ask();
    await client.end();
  });

  it('stands still as soon as it is frozen', async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => session(server.url)));
    for (let round = 0; round < 40; round++) {
      server.freeze();
      const asked = clients.map((client) => client.ask());
      expect(await isAnswered(Promise.race(asked), 15)).toBe(false);
      server.thaw();
      await Promise.all(asked);
    }
    for (const client of clients) await client.end();
  });

  it('keeps its data over a kill, unless it is to be empty', async () => {
    const client = await session(server.url);
    await client.keep();
    await server.kill();
    expect(await refuses(server.port)).toBe(true);
    await client.end();
    await server.restart();
    const second = await session(server.url);
    expect(await second.kept()).toBe(true);
    await second.end();
    server.freeze(); // killed frozen
    await server.restart({ empty: true });
    const third = await session(server.url);
    expect(await third.kept()).toBe(false);
    await third.end();
    expect(await server.commandsServed()).toBeLessThan(100);
  });
});

it.runIf(ownKinds.length === 3)(
  'servers of our own end with the process that began them, however it ends',
  async () => {
    const { signal, lines } = await runFixture('abandon');
    expect(signal).toBe('SIGKILL');
    const ports = JSON.parse(lines.at(-1) ?? '') as number[];
    expect(ports).toHaveLength(3);
    for (const port of ports) {
      while (!(await refuses(port))) await sleep(20); // until the test's own timeout
    }
  },
);
