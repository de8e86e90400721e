import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDB, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TextCells } from '../../../src/backends/cas/text-cells.ts';
import { Dynamodb } from '../../../src/backends/dynamodb/dynamodb-client.ts';
import { DynamodbTexts } from '../../../src/backends/dynamodb/dynamodb-texts.ts';
import {
  type DynamodbBackendOptions,
  dynamodbBackend,
  dynamodbTable,
} from '../../../src/backends/dynamodb.ts';
import { NAME, type Part } from '../../../src/records/names.ts';
import { recordsConformance } from '../../../src/testing/records-conformance.ts';
import { changedText, type FieldsChange } from '../../support/cell-text.ts';
import { leaseOf } from '../../support/lease.ts';
import { lockOf, storeOf } from '../../support/parts.ts';
import { conformance, KEEP_VERSIONS, remembered, warmUp } from './support/conformance.ts';
import { postdated, textDamage } from './support/edits.ts';
import { startDynalite } from './support/servers.ts';

// Not the service: a server of its API, with the client of the service.

const server = await startDynalite();
const clients: DynamoDB[] = [];
afterAll(async () => {
  for (const each of clients) each.destroy();
  await server.close();
});

function connect(endpoint: string = server.url, options: DynamoDBClientConfig = {}): DynamoDB {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new DynamoDB({ endpoint, region: 'eu-west-1', credentials, ...options });
  clients.push(client);
  return client;
}

const [here, there, none] = [connect(), connect(), connect('http://127.0.0.1:1')];
const lock = (client: DynamoDB, options: Partial<DynamodbBackendOptions> = {}) =>
  lockOf(dynamodbBackend({ client, timeout: 10_000, ...options }));
const store = (client: DynamoDB, options: Partial<DynamodbBackendOptions> = {}) =>
  storeOf(dynamodbBackend({ client, timeout: 10_000, ...options }));

/** Edits the text of an item. */
async function edit(name: string, part: Part, change: FieldsChange): Promise<void> {
  const Key = { pk: { S: NAME + name }, sk: { S: 'v1' } };
  const { Item } = await here.getItem({ TableName: 'tickless', Key });
  const body = { S: changedText(Item?.body?.S ?? '', part, change) };
  await here.putItem({ TableName: 'tickless', Item: { ...Item, ...Key, body } });
}

beforeAll(async () => {
  await here.createTable(dynamodbTable());
});

/** The clocks of two clients are known to a tenth of a second and some milliseconds, and a unit is longer than both. */
describe('DynamoDB by dynalite', () => {
  const open = (client: DynamoDB) => remembered((options) => dynamodbBackend({ client, ...options }));
  const [one, another] = [open(here), open(there)];
  beforeAll(() => warmUp(one, another), 30_000);

  conformance({
    unit: 1000,
    one,
    another,
    none: (options) => dynamodbBackend({ client: none, ...options }),
    edits: {
      forget: async (name) => {
        const Key = { pk: { S: `name/${name}` }, sk: { S: 'v1' } };
        await here.deleteItem({ TableName: 'tickless', Key });
      },
      damage: (name, field) => edit(name, 'lock', () => textDamage(field)),
      postdate: (name, ms) => edit(name, 'snapshot', (fields) => postdated(fields, ms)),
    },
  });
});

describe('records in DynamoDB', { concurrent: true }, () => {
  const open = (client: DynamoDB) =>
    new TextCells(new DynamodbTexts(new Dynamodb({ client, timeout: 10_000 }), 'tickless'));
  const subject = { cells: () => open(here), other: () => open(there) };
  for (const { name, run } of recordsConformance(subject)) it(name, run);
});

describe('an item in DynamoDB that was edited to one without a text', () => {
  it.each([undefined, { N: '5' }, { NULL: true } as const])('is replaced: %o', async (body) => {
    const Key = { pk: { S: 'name/no text' }, sk: { S: 'v1' } };
    await here.putItem({ TableName: 'tickless', Item: { ...Key, ...(body && { body }) } });
    await leaseOf(lock(here), { name: 'no text' });
    expect((await lock(there).inspect('no text'))?.state).toBe('running');
  });
});

describe('answers of DynamoDB in several pages', () => {
  it('a payload of more than the 16 MB of an answer', async () => {
    const payload = `${'x'.repeat(17_000_000)}end`;
    await store(here).write('large', payload);
    expect((await store(there).read('large'))?.payload).toBe(payload);
  });

  it('more than the 1 MB of an answer of locks, and of reports', async () => {
    const names = Array.from({ length: 80 }, (_, i) => `paged-${String(i).padStart(2, '0')}`);
    const locks = lock(here);
    for (const name of names) {
      await locks.release(await leaseOf(locks, { name }), {
        as: 'failed',
        error: 'x'.repeat(16_000),
        holdFor: 1,
      });
      await store(here).versions([], { instance: name, text: 'x'.repeat(16_000), keepFor: 60_000 });
    }
    expect((await lock(there).list({ prefix: 'paged-' })).map(({ name }) => name)).toEqual(names);
    expect((await store(there).reports()).map(({ instance }) => instance)).toEqual(names);
  });
});

it('reports that are over, and not deleted by the service yet, do not hide those that are not', async () => {
  const [writer, reader] = [store(here), store(there)];
  await writer.read('a'); // tells the clock
  // More than one answer of 1 MB holds.
  const ended = Array.from({ length: 1800 }, (_, i) => `ended-${i}`);
  const report = (instance: string, keepFor: number) =>
    writer.versions([], { instance, text: 'x'.repeat(1200), keepFor });
  for (let i = 0; i < ended.length; i += 50)
    await Promise.all(ended.slice(i, i + 50).map((instance) => report(instance, 1)));
  await report('later', 3_600_000);
  const instances = async () => (await reader.reports()).map(({ instance }) => instance);
  const seen = async () => (await instances()).filter((each) => /^(ended|later)/.test(each));
  await expect.poll(seen, { timeout: 15_000 }).toEqual(['later']);
}, 60_000);

it('a command that the client repeats, as its answer was lost, counts once', async () => {
  const client = connect();
  client.middlewareStack.add(
    (next) => async (args) => {
      await next(args).catch(() => {});
      return next(args);
    },
    { step: 'finalizeRequest' },
  );
  const lease = await leaseOf(lock(client), { name: 'twice' });
  expect(await lock(client).release(lease, { as: 'done', holdFor: 60_000 })).toBe(true);
  const versions = store(client, { keepVersions: KEEP_VERSIONS });
  const { version } = await versions.write('twice', 'payload');
  expect(await versions.history('twice')).toMatchObject([{ version }]);
});

it('a command that has ended at its timeout is not sent again by the client', async () => {
  const client = connect('http://127.0.0.1:1', { maxAttempts: 100 });
  let tries = 0;
  client.middlewareStack.add(
    (next) => (args) => {
      tries += 1;
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  await expect(lock(client, { timeout: 300 }).inspect('a')).rejects.toThrow();
  await sleep(1000); // a command of the client may take three times as long as its caller waits
  const before = tries;
  await sleep(4000);
  expect(tries).toBe(before);
});

it('items tell the service when it may delete them', async () => {
  await lock(here, { retention: { hours: 1 } }).acquire({ name: 'expires', leaseFor: 60_000 });
  await lock(here, { retention: Infinity }).acquire({ name: 'stays' });
  const expiry = async (name: string) => {
    const Key = { pk: { S: `name/${name}` }, sk: { S: 'v1' } };
    return (await here.getItem({ TableName: 'tickless', Key })).Item?.expires_at?.N;
  };
  const inSeconds = Number(await expiry('expires')) - Date.now() / 1000;
  expect(inSeconds).toBeGreaterThan(3659);
  expect(inSeconds).toBeLessThan(3663);
  expect(await expiry('stays')).toBeUndefined();
});

it('without its table the error says what to do', async () => {
  await expect(lock(here, { table: 'missing' }).acquire({ name: 'a' })).rejects.toThrow(
    /table missing .*dynamodbTable/,
  );
  await expect(store(here, { table: 'missing' }).read('a')).rejects.toThrow(/table missing .*dynamodbTable/);
});

it('a server that does not answer, or is gone: steps reject in time; empty again, tokens and versions grow', async () => {
  const own = await startDynalite();
  onTestFinished(() => own.close());
  const client = connect(own.url);
  const [aLock, aStore] = [lock(client, { timeout: 1000 }), store(client, { timeout: 1000 })];
  await client.createTable(dynamodbTable());
  const { token } = await leaseOf(aLock, { name: 'a' });
  const { version } = await aStore.write('a', 'payload');
  const expectDown = () => expect(aLock.inspect('a')).rejects.toMatchObject({ code: 'BACKEND_DOWN' });
  own.freeze();
  const begun = performance.now();
  await expectDown();
  expect(performance.now() - begun).toBeLessThan(3000);
  own.thaw();
  await own.kill();
  await expectDown();
  await own.restart({ empty: true });
  await client.createTable(dynamodbTable());
  expect((await leaseOf(aLock, { name: 'a' })).token).toBeGreaterThan(token);
  expect((await aStore.write('a', 'again')).version).toBeGreaterThan(version);
});

it('refuses a client without the commands, and a table that is no name', () => {
  const refused = expect.objectContaining({ code: 'OPTION' });
  expect(() => lockOf(dynamodbBackend({ client: {} as never }))).toThrow(refused);
  expect(() => storeOf(dynamodbBackend({ client: here, table: 'a b' }))).toThrow(refused);
  expect(() => lockOf(dynamodbBackend({ client: here, table: 'a' }))).toThrow(refused);
});
