import { expect, test } from 'vitest';
import { statusText } from '../../../src/cli/tables.ts';
import { Overviews } from '../../../src/console/overview.ts';
import { WatchTime } from '../../../src/console/watch-time.ts';
import { isTicklessError, RefreshGroup } from '../../../src/index.ts';
import { firstOf } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { rejectionOf } from '../../support/settle.ts';

const hang = (): Promise<never> => new Promise(() => {});

/** A service whose log is kept. */
function service() {
  const clock = new FakeClock({ now: '2026-11-29T03:00:00Z' });
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const group = new RefreshGroup({ clock, logger: { warn: log, error: log }, name: 'shop' });
  const status = async (): Promise<string> =>
    statusText(await new Overviews(group, new WatchTime(), (text) => text).now(), false);
  return { clock, group, lines, status };
}

test('a read whose patience ends says how long that was and what it waited for, and so do log, health and status', async () => {
  const { clock, group, lines, status } = service();
  const prices = group.value({ name: 'prices', load: firstOf(async function primary() { return hang(); }) }); // biome-ignore format: a function with a name
  const read = rejectionOf(prices.get({ patience: '2s' }));
  await clock.advance('2s');
  const error = await read;
  expect(isTicklessError(error, 'NOT_LOADED') && error.message).toBe(
    'prices: not loaded within the patience of this read, 2 s, waiting for source 1 (primary)',
  );
  await clock.flush();
  expect(lines).toEqual([
    'tickless: prices: reads are refused (1 so far), there is no value, a load is under way for 2 s: ' +
      'not loaded within the patience of this read, 2 s, waiting for source 1 (primary)',
  ]);
  expect(prices.inspect().refusesReads).toBe(true);
  expect(group.health({ start: false })).toMatchObject({
    ok: true, // it is not required
    problems: [{ kind: 'not-loaded', message: 'refuses reads, and had no success yet, is being loaded' }],
  });
  expect(await status()).toMatch(/^shop: reads fail[\s\S]*reads fail +prices +no value, loading/);

  await clock.advance('30s'); // the load has timed out; the next line of a read says so
  await clock.advance('30s');
  await rejectionOf(prices.get({ patience: 0 }));
  await clock.flush();
  expect(lines.length).toBe(2);
  expect(lines[1]).toContain(
    'still failing after 1 min and 1 failure, load timed out after 30 s at attempt 1, waiting for source 1 (primary), next try with a read',
  );
});

test('a value beyond its limit whose load hangs refuses patient reads, with the reason; one that was not read does not', async () => {
  const { clock, group, status } = service();
  let load = async (): Promise<number> => 1;
  const rates = group.value({ name: 'rates', load: () => load(), schedule: '10m', maxStaleness: '1h' });
  await rates.get();
  await clock.advance('2h');
  expect(rates.inspect().refusesReads).toBe(false);
  expect(group.health({ start: false })).toMatchObject({
    ok: true,
    problems: [
      { kind: 'too-stale', message: 'is 2 h old, maxStaleness is 1 h: the next read starts a load' },
    ],
  });
  expect(await status()).toMatch(/^shop: reads are served[\s\S]*notices +rates/);

  load = hang;
  const read = rejectionOf(rates.get({ patience: '1s' }));
  await clock.advance('1s');
  const error = await read;
  expect(isTicklessError(error, 'TOO_STALE') && error.message).toBe(
    'rates: the value is 2 h old, maxStaleness is 1 h: not loaded within the patience of this read, 1 s',
  );
  expect(isTicklessError((error as Error).cause, 'NOT_LOADED')).toBe(true);
  expect(await status()).toMatch(/^shop: reads fail[\s\S]*reads fail +rates/);
  expect(group.health({ start: false }).ok).toBe(false);

  load = async () => 2;
  await clock.advance('31s');
  await rates.get().catch(() => {});
  await clock.advance('1m');
  expect(await rates.get()).toBe(2);
  expect(group.health({ start: false }).problems).toEqual([]);
});

test('keys whose reads are refused while their loads hang are a problem of their cache', async () => {
  const { clock, group } = service();
  const zones = group.cache({ name: 'zones', max: 10, load: (_key: string, _: object) => hang() });
  const read = rejectionOf(zones.get('a', { patience: '1s' }));
  await clock.advance('1s');
  await read;
  expect(group.health({ start: false }).problems).toMatchObject([
    { kind: 'failing', message: 'reads of keys are refused, and loads go on' },
  ]);
});

test('what was logged as not ready is logged when it is', async () => {
  const { clock, group, lines, status } = service();
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  group.value({ name: 'prices', required: true, load: () => gate.then(() => 1), timeout: Infinity });
  const ready = group.ready({ timeout: '5s' });
  await clock.advance('5s');
  expect((await ready).ok).toBe(false);
  expect(lines).toEqual([
    expect.stringContaining('not ready within 5 s, 1 of 1 required members: prices: is required'),
  ]);
  expect(await status()).toMatch(/^shop: not ready, 1 member/);
  await clock.advance('10s');
  open();
  await clock.flush();
  expect(lines.slice(1)).toEqual([expect.stringContaining('ready after 10 s')]);
  expect(await status()).toMatch(/^shop: reads are served/);
});
