import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { runFixture } from './support/child.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import {
  openSignalled,
  readUntil,
  type SignalledKind,
  type SignalledOptions,
  signalledKinds,
} from './support/signalled.ts';

/** Far beyond what a signal takes on a busy machine. */
const SOON_MS = 10_000;
const kindOf = (kind: SignalledKind): 'postgres' | 'redis' => (kind === 'pg' ? 'postgres' : 'redis');
const spaceOf = (what: string, kind: SignalledKind): string =>
  `${what}_${signalledKinds.indexOf(kind)}_${process.pid}`;

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

async function instance(
  kind: SignalledKind,
  options: Pick<SignalledOptions, 'url' | 'space' | 'propagateWithin' | 'hasSignals'>,
): Promise<RefreshingValue<number>> {
  const { shared, close } = await openSignalled(kind, options);
  const value = new RefreshingValue({
    ...{ name: 'v', load: () => 0, schedule: { hours: 1 }, logger: false as const, ...shared },
  });
  closings.push(close, () => value.close());
  await value.get();
  return value;
}

it('with a client for the signals of a backend of PostgreSQL a change is served elsewhere long before a check is due', async () => {
  const space = spaceOf('client', 'pg');
  const options = { ...inject('postgres'), space, propagateWithin: 600_000, hasSignals: 'client' } as const;
  const [a, b] = [await instance('pg', options), await instance('pg', options)];
  await sleep(200); // both listen
  await a.set(7);
  await readUntil(() => b.current, 7, SOON_MS);
});

describe.each(signalledKinds)('signals with %s', (kind) => {
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
    const options = { url, space: spaceOf('signals', kind), propagateWithin: 600_000 };
    const [a, b] = [await instance(kind, options), await instance(kind, options)];
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
      const options = { url: server.url, space: spaceOf('restart', kind), propagateWithin: 3000 };
      const [a, b] = [await instance(kind, options), await instance(kind, options)];
      expect(await isTold(a, b, 1000)).toBe(true);
      await server.kill();
      await sleep(500);
      await server.restart();
      await readUntil(() => b.current, a.current, SOON_MS);
      expect(await isTold(a, b, 500)).toBe(true);
    },
  );
});
