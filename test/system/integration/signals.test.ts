import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { postgresBackend } from '../../../src/backends/postgres.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { runFixture } from './support/child.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import {
  openSignalled,
  readUntil,
  type Signalled,
  type SignalledKind,
  signalledKinds,
} from './support/signalled.ts';

/** Far beyond what a signal takes on a busy machine. */
const SOON_MS = 10_000;
const kindOf = (kind: SignalledKind): 'postgres' | 'redis' => (kind === 'pg' ? 'postgres' : 'redis');
const spaceOf = (what: string, kind: SignalledKind): string =>
  `${what}_${signalledKinds.indexOf(kind)}_${process.pid}`;

it('with a client for the signals of a backend of PostgreSQL a change is served elsewhere long before a check is due', async () => {
  const { url } = inject('postgres');
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  };
  const open: { readonly value: RefreshingValue<number>; close(): Promise<unknown> }[] = [];
  for (let i = 0; i < 2; i++) {
    const pool = new pg.Pool({ connectionString: url });
    const signals = await connect();
    pool.on('error', () => {});
    signals.on('error', () => {});
    const options = { client: pool, signals, table: `signals_${process.pid}`, timeout: 2000 };
    const backend = postgresBackend(options);
    const value = new RefreshingValue({
      name: 'v',
      load: () => 0,
      schedule: { hours: 1 },
      backend,
      propagateWithin: 600_000,
      logger: false,
    });
    open.push({ value, close: () => value.close().then(() => Promise.all([pool.end(), signals.end()])) });
    await value.get();
  }
  try {
    const [a, b] = open.map(({ value }) => value) as [RefreshingValue<number>, RefreshingValue<number>];
    await sleep(200); // both listen
    await a.set(7);
    await readUntil(() => b.current, 7, SOON_MS);
  } finally {
    for (const { close } of open) await close();
  }
});

describe.each(signalledKinds)('signals with %s', (kind) => {
  const closings: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0).reverse()) await close();
  });

  async function instance(
    url: string,
    space: string,
    propagateWithin: number,
  ): Promise<RefreshingValue<number>> {
    const signalled: Signalled = await openSignalled(kind, { url, space, propagateWithin });
    const value = new RefreshingValue({
      name: 'v',
      load: () => 0,
      schedule: { hours: 1 },
      ...signalled.shared,
      logger: false,
    });
    closings.push(signalled.close, () => value.close());
    await value.get();
    return value;
  }

  /** Sets values until one of them was told. It may not listen yet, or not again. */
  async function isTold(
    from: RefreshingValue<number>,
    to: RefreshingValue<number>,
    atMostMs: number,
  ): Promise<boolean> {
    const endAt = performance.now() + SOON_MS;
    for (let set = 1 + from.current; performance.now() < endAt; set++) {
      await from.set(set).catch(() => {});
      const isHere = readUntil(() => to.current, set, atMostMs);
      if (await isHere.then(() => true).catch(() => false)) return true;
    }
    return false;
  }

  it('a change is served elsewhere long before a check is due; one signal after the other', async () => {
    const { url } = inject(kindOf(kind));
    const space = spaceOf('signals', kind);
    const a = await instance(url, space, 600_000);
    const b = await instance(url, space, 600_000);
    expect(await isTold(a, b, 1000)).toBe(true);
    for (let set = 100; set < 110; set += 2) {
      await a.set(set);
      await readUntil(() => b.current, set, SOON_MS);
      await b.set(set + 1);
      await readUntil(() => a.current, set + 1, SOON_MS);
    }
  });

  it('a process that listens ends by itself, also after its connection was cut', async () => {
    const { url } = inject(kindOf(kind));
    const ended = await runFixture('signalled-exit', { args: [kind, url, spaceOf('exit', kind)] });
    expect(ended).toMatchObject({ code: 0, signal: null, lines: ['listens', 'listens again'], stderr: '' });
  });

  it.skipIf(!ownKinds.includes(kindOf(kind)))(
    'after a restart of the server changes come by checks at once, and by signals again soon',
    async () => {
      const server = await startOwn(kindOf(kind));
      closings.push(() => server.close());
      const space = spaceOf('restart', kind);
      const a = await instance(server.url, space, 3000);
      const b = await instance(server.url, space, 3000);
      expect(await isTold(a, b, 1000)).toBe(true);
      await server.kill();
      await sleep(500);
      await server.restart();
      await readUntil(() => b.current, a.current, SOON_MS);
      expect(await isTold(a, b, 500)).toBe(true);
    },
  );
});
