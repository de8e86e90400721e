import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type FaultProxy, startProxy } from './support/proxy.ts';

/** A connection that adds words to a list at the server, under a name of its own. */
interface Session {
  add(word: string): Promise<unknown>;
  words(): Promise<string[]>;
  end(): unknown;
}

type Open = (url: string, name: string) => Promise<Session>;

async function ioredis(url: string, name: string): Promise<Session> {
  const options = { retryStrategy: null, enableReadyCheck: false, maxRetriesPerRequest: 0 };
  const client = new Redis(url, options);
  client.on('error', () => {});
  await client.ping();
  return {
    add: (word) => client.rpush(name, word),
    words: () => client.lrange(name, 0, -1),
    end: () => client.disconnect(),
  };
}

async function nodeRedis(url: string, name: string): Promise<Session> {
  const client = createClient({ url, RESP: 3, socket: { reconnectStrategy: false } });
  client.on('error', () => {});
  await client.connect();
  return {
    add: (word) => client.rPush(name, word),
    words: () => client.lRange(name, 0, -1),
    end: () => client.destroy(),
  };
}

/** @param protocol simple, extended, or extended with a statement that is parsed once */
function postgres(protocol: 'simple' | 'extended' | 'named'): Open {
  return async (url, name) => {
    const client = new pg.Client(url);
    client.on('error', () => {});
    await client.connect();
    await client.query(`create table if not exists "${name}" (id serial, word text)`);
    const text = `insert into "${name}" (word) values ($1)`;
    return {
      add(word) {
        if (protocol === 'simple') return client.query(text.replace('$1', `'${word}'`));
        return client.query({ text, values: [word], ...(protocol === 'named' ? { name } : {}) });
      },
      words: async () =>
        (await client.query(`select word from "${name}" order by id`)).rows.map(({ word }) => word),
      end: () => client.end().catch(() => {}),
    };
  };
}

/** @param method text, or a prepared statement */
function mariadb(method: 'query' | 'execute'): Open {
  return async (url, name) => {
    const client = await createConnection(url);
    client.on('error', () => {});
    await client.query(`create table if not exists \`${name}\` (id serial, word varchar(50))`);
    return {
      add(word) {
        const text = `insert into \`${name}\` (word) values (?)`;
        return method === 'query' ? client.query(text, [word]) : client.execute(text, [word]);
      },
      async words() {
        const [rows] = await client.query(`select word from \`${name}\` order by id`);
        return (rows as { word: string }[]).map(({ word }) => word);
      },
      end: () => client.destroy(),
    };
  };
}

const within = (ms: number): Promise<'nothing'> =>
  new Promise((resolve) => setTimeout(resolve, ms, 'nothing'));
let names = 0;

describe.each([
  { engine: 'redis', client: 'ioredis', open: ioredis },
  { engine: 'redis', client: 'node-redis', open: nodeRedis },
  { engine: 'postgres', client: 'pg, simple protocol', open: postgres('simple') },
  { engine: 'postgres', client: 'pg, extended protocol', open: postgres('extended') },
  { engine: 'postgres', client: 'pg, named statements', open: postgres('named') },
  { engine: 'mariadb', client: 'mysql2, text', open: mariadb('query') },
  { engine: 'mariadb', client: 'mysql2, prepared statements', open: mariadb('execute') },
] as const)('the fault proxy between $engine and $client', ({ engine, open }) => {
  const { url } = inject(engine);
  let name: string;
  let proxy: FaultProxy;
  let direct: Session;
  const sessions: Session[] = [];
  const connected = async (to = proxy.url): Promise<Session> => {
    const session = await open(to, name);
    sessions.push(session);
    return session;
  };

  beforeEach(async () => {
    name = `proxy-${process.pid}-${++names}`;
    proxy = await startProxy({ kind: engine, url });
    direct = await connected(url);
  });
  afterEach(async () => {
    proxy.heal();
    for (const session of sessions.splice(0)) await session.end();
    await proxy.close();
  });

  it('passes all on, and counts the commands of each connection', async () => {
    const [first, second] = [await connected(), await connected()];
    proxy.commands.length = 0;
    await first.add('one');
    for (const word of ['two', 'three']) await second.add(word);
    await second.words();
    expect(proxy.commands.map(({ connection }) => connection)).toEqual([1, 2, 2, 2]);
    const texts = proxy.commands.map(({ text }) => text);
    for (const text of texts) expect(text).toContain(name);
    expect(texts[0]).toMatch(/rpush|insert/i); // the statement too, where it was parsed before
    expect(texts[2]).toMatch(/rpush|insert/i);
    expect(texts[0]).toContain('one');
    expect(texts[2]).toContain('three');
    expect(await direct.words()).toEqual(['one', 'two', 'three']);
    expect(proxy.connections).toBe(2);
    expect(proxy.chunks).toBeGreaterThanOrEqual(4);
  });

  it('loses the answer to a command, and with it the connection', async () => {
    const session = await connected();
    await session.add('before');
    const lost = proxy.loseReplies({ matching: /two/, times: 2 });
    expect(await Promise.allSettled([session.add('one'), session.add('two')])).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected' },
    ]);
    await expect((await connected()).add('two')).rejects.toThrow();
    await lost;
    await (await connected()).add('two');
    expect(await direct.words()).toEqual(['before', 'one', 'two', 'two', 'two']);
  });

  it('loses the answer to a command, and all behind it, in silence', async () => {
    const session = await connected();
    const lost = proxy.loseReplies({ matching: 'two', then: 'silence' });
    const [one, two, three] = ['one', 'two', 'three'].map((word) => session.add(word).catch(() => {}));
    await one;
    await lost;
    expect(await Promise.race([two, three, within(200)])).toBe('nothing');
    expect((await direct.words()).slice(0, 2)).toEqual(['one', 'two']);
    await (await connected()).add('other');
    expect(proxy.connections).toBe(2);
  });

  it('keeps both sides apart until it is healed', async () => {
    const session = await connected();
    proxy.partition();
    const added = session.add('late');
    const opened = connected();
    expect(await Promise.race([added, opened, within(200)])).toBe('nothing');
    expect(await direct.words()).toEqual([]);
    proxy.heal();
    await Promise.all([added, opened]);
    expect(await direct.words()).toEqual(['late']);
  });

  it('delays both ways', async () => {
    const session = await connected();
    proxy.latency(100);
    const begun = performance.now();
    await session.add('slow');
    expect(performance.now() - begun).toBeGreaterThan(195);
    proxy.heal();
    await session.add('quick');
    expect(await direct.words()).toEqual(['slow', 'quick']);
  });

  it('cuts all connections', async () => {
    const [first, second] = [await connected(), await connected()];
    proxy.partition();
    const asked = Promise.allSettled([first.add('never'), second.add('never')]);
    await within(50);
    proxy.cut();
    expect(await asked).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    proxy.heal();
    expect(await direct.words()).toEqual([]);
    await (await connected()).add('again');
    expect(await direct.words()).toEqual(['again']);
  });
});
