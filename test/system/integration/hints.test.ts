import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { runFixture } from './support/child.ts';
import { type Hinted, type HintedKind, hintedKinds, openHinted, readUntil } from './support/hinted.ts';
import { ownKinds, startOwn } from './support/own-server.ts';

/** Far beyond what a hint takes on a busy machine. */
const SOON_MS = 10_000;
const kindOf = (kind: HintedKind): 'postgres' | 'redis' => (kind === 'pg' ? 'postgres' : 'redis');
const spaceOf = (what: string, kind: HintedKind): string =>
  `${what}_${hintedKinds.indexOf(kind)}_${process.pid}`;

describe.each(hintedKinds)('hints with %s', (kind) => {
  const closings: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0).reverse()) await close();
  });

  async function instance(
    url: string,
    space: string,
    propagateWithin: number,
  ): Promise<RefreshingValue<number>> {
    const hinted: Hinted = await openHinted(kind, { url, space, propagateWithin });
    const value = new RefreshingValue({
      name: 'v',
      load: () => 0,
      schedule: { hours: 1 },
      ...hinted.shared,
      logger: false,
    });
    closings.push(hinted.close, () => value.close());
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
      await from.set(set, { everywhere: true }).catch(() => {});
      const isHere = readUntil(() => to.current, set, atMostMs);
      if (await isHere.then(() => true).catch(() => false)) return true;
    }
    return false;
  }

  it('a change is served elsewhere long before a check is due; one hint after the other', async () => {
    const { url } = inject(kindOf(kind));
    const space = spaceOf('hints', kind);
    const a = await instance(url, space, 600_000);
    const b = await instance(url, space, 600_000);
    expect(await isTold(a, b, 1000)).toBe(true);
    for (let set = 100; set < 110; set += 2) {
      await a.set(set, { everywhere: true });
      await readUntil(() => b.current, set, SOON_MS);
      await b.set(set + 1, { everywhere: true });
      await readUntil(() => a.current, set + 1, SOON_MS);
    }
  });

  it('a process that listens ends by itself, also after its connection was cut', async () => {
    const { url } = inject(kindOf(kind));
    const ended = await runFixture('hinted-exit', { args: [kind, url, spaceOf('exit', kind)] });
    expect(ended).toMatchObject({ code: 0, signal: null, lines: ['listens', 'listens again'], stderr: '' });
  });

  it.skipIf(!ownKinds.includes(kindOf(kind)))(
    'after a restart of the server changes come by checks at once, and by hints again soon',
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
