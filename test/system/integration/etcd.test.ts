import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TextCells } from '../../../src/backends/cas/text-cells.ts';
import { EtcdClient } from '../../../src/backends/etcd/etcd-client.ts';
import { EtcdTexts } from '../../../src/backends/etcd/etcd-texts.ts';
import { type EtcdBackendOptions, type EtcdFetch, etcdBackend } from '../../../src/backends/etcd.ts';
import { NAME, type Part } from '../../../src/records/names.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';
import { changedText, type FieldsChange } from '../../support/cell-text.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { conformance, KEEP_VERSIONS, remembered, warmUp } from './support/conformance.ts';
import { postdated, textDamage } from './support/edits.ts';
import { startEtcd } from './support/servers.ts';

const given = process.env.ETCD_URL;
const prefix = `tickless-${process.pid}/`;
const server = given === undefined ? await startEtcd() : undefined;
const endpoints = given ?? String(server?.url);
afterAll(() => server?.close());

const lock = (options: Partial<EtcdBackendOptions> = {}) =>
  lockOf(etcdBackend({ endpoints, prefix, timeout: 10_000, ...options }));
const store = (options: Partial<EtcdBackendOptions> = {}) =>
  storeOf(etcdBackend({ endpoints, prefix, timeout: 10_000, ...options }));

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const keyOf = (name: string): string => base64(`${prefix}${NAME}${name}\0v1`);

async function send(path: string, command: object): Promise<{ kvs?: { value: string }[] }> {
  const response = await fetch(`${endpoints}/v3/kv/${path}`, {
    method: 'POST',
    body: JSON.stringify(command),
  });
  return (await response.json()) as { kvs?: { value: string }[] };
}

async function auth(url: string, path: string, body: object, token?: string): Promise<{ token?: string }> {
  const headers = token === undefined ? {} : { authorization: token };
  const init = { method: 'POST', body: JSON.stringify(body), headers };
  return (await (await fetch(`${url}/v3/auth/${path}`, init)).json()) as { token?: string };
}

/** The server asks for a user from now on. @returns one that may do all. */
async function withUsers(url: string): Promise<{ name: string; password: string }> {
  const user = { name: 'root', password: 'secret' };
  await auth(url, 'user/add', user);
  await auth(url, 'role/add', { name: 'root' });
  await auth(url, 'user/grant', { user: 'root', role: 'root' });
  await auth(url, 'enable', {});
  return user;
}

/** Edits the text of a key. */
async function edit(name: string, part: Part, change: FieldsChange): Promise<void> {
  const key = keyOf(name);
  const { kvs } = await send('range', { key });
  const text = Buffer.from(kvs?.[0]?.value ?? '', 'base64').toString();
  await send('put', { key, value: base64(changedText(text, part, change)) });
}

/** The clocks of two clients are known to some milliseconds, and a unit is longer than that. */
describe('etcd', () => {
  const open = () => remembered((options) => etcdBackend({ endpoints, prefix, ...options }));
  const [one, another] = [open(), open()];
  beforeAll(() => warmUp(one, another), 30_000);

  conformance({
    unit: 600,
    one,
    another,
    none: (options) => etcdBackend({ prefix, ...options, endpoints: 'http://127.0.0.1:1' }),
    edits: {
      forget: async (name) => void (await send('deleterange', { key: keyOf(name) })),
      damage: (name, field) => edit(name, 'lock', () => textDamage(field)),
      postdate: (name, ms) => edit(name, 'snapshot', (fields) => postdated(fields, ms)),
    },
  });
});

it('a record in etcd that was edited to bytes that are not UTF-8 is replaced', async () => {
  const key = keyOf('bytes');
  await send('put', { key, value: Buffer.from([0x7b, 0xff]).toString('base64') });
  expect((await lock().acquire({ name: 'bytes' })).kind).toBe('acquired');
  expect((await lock().inspect('bytes'))?.state).toBe('running');
});

describe('records in etcd', { concurrent: true }, () => {
  const cells = () => new TextCells(new EtcdTexts(new EtcdClient({ endpoints, timeout: 10_000 }), prefix));
  for (const { name, run } of recordsConformance({ cells })) it(name, run);
});

const isGiven = given !== undefined;

/** Each with a server of its own. */
describe.skipIf(isGiven)('etcd that fails', () => {
  it('frozen or killed: steps reject in time, and go on with the data; emptied: tokens and versions grow', async () => {
    const own = await startEtcd();
    onTestFinished(() => own.close());
    const backend = etcdBackend({ endpoints: own.url, timeout: 1000, leaseFor: 3_600_000 });
    const [held, written] = [lockOf(backend), storeOf(backend)];
    const other = lockOf(etcdBackend({ endpoints: ['http://127.0.0.1:1', own.url], timeout: 5000 }));
    const before = await leaseOf(held, { name: 'a' });
    const { version } = await written.write('a', 'payload');
    const expectDown = () => expect(held.inspect('a')).rejects.toMatchObject({ code: 'BACKEND_DOWN' });
    own.freeze();
    await expectDown();
    own.thaw();
    await own.kill();
    const begun = performance.now();
    await expectDown();
    expect(performance.now() - begun).toBeLessThan(3000);
    await own.restart();
    expect(await other.acquire({ name: 'a' })).toMatchObject({ kind: 'held' });
    expect(await held.release(before, { as: 'abandoned' })).toBe(true);
    const { token } = await leaseOf(other, { name: 'a' });
    await own.restart({ empty: true });
    expect((await leaseOf(held, { name: 'a' })).token).toBeGreaterThan(token);
    expect((await written.write('a', 'again')).version).toBeGreaterThan(version);
  });

  it('commands that fail together turn to the next endpoint once, also where the first one is silent', async () => {
    const [own, silent] = await Promise.all([startEtcd(), startEtcd()]);
    onTestFinished(async () => void (await Promise.all([own.close(), silent.close()])));
    silent.freeze();
    const pairOf = (first: string) => {
      const several = lockOf(etcdBackend({ endpoints: [first, own.url], timeout: 1000 }));
      return () => Promise.all(['a', 'b'].map((name) => several.inspect(name)));
    };
    expect(await pairOf('http://127.0.0.1:1')()).toEqual([undefined, undefined]);
    await expect.poll(pairOf(silent.url), { timeout: 10_000 }).toEqual([undefined, undefined]);
  });

  it('with users and JWT: a token that is too old, as users were changed, is asked for again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tickless-jwt-'));
    await writeFile(join(folder, 'key'), 'a secret of thirty-two characters');
    const jwt = `jwt,sign-method=HS256,ttl=10m,priv-key=${join(folder, 'key')}`;
    const own = await startEtcd({ args: ['--auth-token', jwt] });
    try {
      const user = await withUsers(own.url);
      const ownStore = storeOf(etcdBackend({ endpoints: own.url, user, timeout: 5000 }));
      await ownStore.write('a', 'payload');
      const { token } = await auth(own.url, 'authenticate', user);
      await auth(own.url, 'user/add', { name: 'another', password: 'secret' }, token);
      expect((await ownStore.read('a'))?.payload).toBe('payload');
    } finally {
      await own.close();
      await rm(folder, { recursive: true });
    }
  });

  it('with users: a token that has expired is asked for again; a wrong password is an error', async () => {
    const own = await startEtcd({ args: ['--auth-token-ttl', '1'] });
    onTestFinished(() => own.close());
    const user = await withUsers(own.url);
    const ownStore = storeOf(etcdBackend({ endpoints: own.url, user, timeout: 5000 }));
    await ownStore.write('a', 'payload');
    await sleep(3000);
    expect((await ownStore.read('a'))?.payload).toBe('payload');
    const wrong = storeOf(etcdBackend({ endpoints: own.url, user: { ...user, password: 'other' } }));
    await expect(wrong.read('a')).rejects.toThrow(/authentication failed/);
    await expect(storeOf(etcdBackend({ endpoints: own.url })).read('a')).rejects.toThrow(
      /user name is empty/,
    );
  });
});

it('a command that is repeated, as its answer was lost, counts once', async () => {
  const twice: EtcdFetch = async (...request) => {
    await fetch(...request);
    return fetch(...request);
  };
  const versions = store({ fetch: twice, keepVersions: KEEP_VERSIONS });
  const { version } = await versions.write('twice', 'payload');
  expect(await versions.history('twice')).toMatchObject([{ version }]);
});

describe('retention in etcd', () => {
  it('the server deletes records and snapshots, with their parts', async () => {
    const short = { retention: { seconds: 1 }, prefix: `${prefix}short/` };
    const aLock = lock({ ...short, leaseFor: 1000 });
    const aStore = store(short);
    await aLock.acquire({ name: 'a' });
    await aStore.write('a', 'long '.repeat(1000));
    await lock({ prefix: short.prefix }).acquire({ name: 'kept' });
    const names = async () => (await lock({ prefix: short.prefix }).list()).map(({ name }) => name);
    expect(await names()).toEqual(['a', 'kept']);
    await expect
      .poll(async () => [await names(), await aStore.read('a')], { timeout: 15_000 })
      .toEqual([['kept'], undefined]);
  }, 20_000);
});
