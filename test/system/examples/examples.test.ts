import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';

// Each example runs on the built package (`npm run build` first), ends by itself with exit code 0, prints nothing to
// stderr, and prints these lines in this order. `…` stands for any text; other lines may stand between them.

const MOST_LINES = 60;
/** A backend, and a stand-in for its service. */
const LONGER: Record<string, number> = { 'own-backend': 150 };

const EXPECTED: Record<string, readonly string[]> = {
  'adaptive-schedule': [
    'minutes until the next reload: 1,1,1, … 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60',
    '71 loads in 8 hours, where every minute would have been 481',
  ],
  'cluster-shared-rates': [
    'USD 1.08, … ms old, loaded here: …',
    'three processes, 1 load, 1 version',
    'after a restart: … ms old, loaded here: no',
  ],
  'cluster-shutdown': [
    'price-list: loading',
    'SIGTERM: waits for the load, releases the lock, exits',
    'closed: 0 loads aborted, 0 leases left',
    'the other instance is ready, loads: 1',
  ],
  'tokens-fastify': [
    '200 {"orders":[],"of":"alice"}',
    '401 {"code":"ERR_TICKLESS_JWKS_NO_KEY"}',
    'the issuer is down',
    '200 {"orders":[],"of":"alice"}',
    'ready: true, state of the keys: fresh',
  ],
  'metrics-endpoint': [
    'cities: cities["9999"]: load failed: the source is down',
    'tickless_value_max_staleness_seconds{name="rates"} 3600',
    'tickless_cache_keys{name="cities"} 1',
    'tickless_cache_failing_keys{name="cities"} 1',
    'tickless_reads_total{name="rates"} 2',
    'tickless_reads_total{name="cities"} 2',
    'tickless_loads_total{name="rates",outcome="loaded"} 1',
    'tickless_loads_total{name="rates",outcome="failed"} 0',
    'tickless_loads_total{name="cities",outcome="loaded"} 1',
    'tickless_loads_total{name="cities",outcome="failed"} 1',
  ],
  'prices-with-a-backup': [
    'at the start: 120 of the service, 0 minutes old',
    'the service is down, the mirror has an older edition: 120 of the service, 30 minutes old',
    'the mirror has a newer one: 125 of the mirror, 0 minutes old',
    'the service is back: 130 of the service, 0 minutes old',
    'an hour without the service: 110 of the mirror, 0 minutes old',
  ],
  'rollback-at-night': [
    '2 editions are in the store',
    "here { code: 'apple', cents: 120 }",
    "there { code: 'apple', cents: 120 } pinned by ann: all prices are 0",
    'prices: pinned by ann until 2026-11-23T09:10:00.1… or unpin(): all prices are 0',
    'loaded again 2 prices, pinned: false',
  ],
  'cron-schedule': [
    'loaded 2026-10-29T12:0…',
    'loaded 2026-10-29T21:4…',
    'loaded 2026-10-30T21:4…',
    'loaded 2026-11-02T22:4…',
    'next   2026-11-03T22:3…',
  ],
  'daily-at-five': [
    'first read: the tariffs of 2026-03-27',
    'executed Fri 2026-03-27 13:00 +01:00',
    'executed Sat 2026-03-28 05:00 +01:00',
    'executed Sun 2026-03-29 05:00 +02:00',
    'executed Mon 2026-03-30 05:00 +02:00',
    'sent     Sat 2026-03-28 05:00 +01:00',
    'sent     Sun 2026-03-29 05:00 +02:00',
    'sent     Mon 2026-03-30 05:00 +02:00',
    'last read:  the tariffs of 2026-03-30, next Tue 2026-03-31 05:00 +02:00',
    "the executor's next Tue 2026-03-31 05:00 +02:00",
  ],
  'events-and-shutdown': [
    '{"type":"load-started",…"trigger":"first"…',
    '{"type":"load-ended",…"trigger":"first"…',
    '["key-1"]',
    '{"type":"load-started",…"trigger":"invalidated"…',
    '["key-1"]',
    'SIGTERM', // before or after the reload has ended
    '{"type":"closed",…',
    'closed, and still serving key-2 after 2 loads',
  ],
  'exchange-rates-max-staleness': [
    '100 EUR = 108.42 USD, at a rate 0 minutes old',
    '100 EUR = 108.42 USD, at a rate 30 minutes old',
    'no quote: the rates are 61 minutes old',
    '2 failures; the old rate, for those who want it: 1.0842',
    'no quote: the rates are 62 minutes old',
    '100 EUR = 108.42 USD, at a rate 0 minutes old',
  ],
  'express-age-header': [
    '503, Retry-After: null, {"error":"countries: …the database is starting up"}',
    '503, Retry-After: …, {"error":"countries: cooling down …"}',
    '200, Age: …, {"NL":"Netherlands","BE":"Belgium"}',
  ],
  'express-console': [
    '/ready: 503 ["countries not-loaded"]',
    '/ready: 200',
    '/tickless/: 403',
    '/tickless/: 200',
  ],
  'openfeature-flags': [
    'PROVIDER_READY',
    'checkout v1, STATIC',
    'PROVIDER_CONFIGURATION_CHANGED checkout',
    'checkout v2, STATIC',
    'PROVIDER_STALE flags: load failed: 503 Service Unavailable',
    'checkout v2, STALE',
    'refused: the schema refuses it: flag "checkout": defaultVariant "newest" is not one of the variants',
    'checkout v2, STALE',
    'PROVIDER_READY',
    'PROVIDER_CONFIGURATION_CHANGED checkout',
    'checkout v1, STATIC',
  ],
  'flags-everywhere': [
    '{ newCheckout: false } 3',
    '{ newCheckout: false } 3',
    '3 loads for 2 instances with 3 users each',
    'new checkout: there after … ms',
    'export for ann: there after … ms',
    '4 loads by now',
    '{ checkedAt: …, failingSince: undefined, error: undefined }',
  ],
  'group-cron-hit': [
    '00:00 loaded rates, flags',
    '1012 is Amsterdam',
    '00:05 loaded nothing',
    '…flags: …503',
    '00:10 loaded rates, city 1012',
    '00:15 loaded flags',
    'a request finds the rates fresh',
  ],
  'group-fastify-kubernetes': [
    '/live 200 alive',
    '/ready 503 ["exchange-rates …"]',
    '/ready 200 []',
    '/cities/1012 200 city of 1012',
    'closed after 3 loads of exchange-rates, the last of which came to its end',
  ],
  'guarded-price-list': [
    'loaded: 4 prices',
    'refused: it shrinks by 75 %, at most 34 % is allowed (4 before, 1 now)',
    'served: 4 prices',
    'loaded: 4 prices',
    'refused: nothing',
    'refused: it shrinks by 75 %, at most 34 % is allowed (4 before, 1 now)',
    'to decide on: 3 removed, 1 changed',
    'loaded: 1 prices',
    'loaded: 1 prices',
    'served: apple',
  ],
  'hono-age-header': [
    'Age: …, tickless; hit; ttl=30, {"revision":1,"newCheckout":true}',
    'Age: …, tickless; hit; ttl=0, {"revision":1,"newCheckout":true}',
    'Age: …, tickless; hit; ttl=30, {"revision":2,"newCheckout":true}',
  ],
  'hono-console': ['/ready: 503 ["flags not-loaded"]', '/ready: 200', '/tickless/: 403', '/tickless/: 200'],
  'koa-console': [
    '/ready: 503 ["rates not-loaded"]',
    '/ready: 200',
    'Age: …, tickless; hit; ttl=600, {"USD":1.08}',
    '/tickless/: 403',
    '/tickless/: 200',
  ],
  'http-source': [
    'a new list',
    'an apple costs 120',
    'not modified: the list in memory is still valid',
    'the very same object: true',
    'a new list',
    'an apple costs 125',
    '…/prices.json?key=… answered 200 OK (text/html): line 1, column 1, is not JSON',
    'still, an apple costs 125',
    '…/prices.json?key=… answered 503 Service Unavailable',
    'still, an apple costs 125',
    'the source answered 200, 304, 200, 200, 503',
    'http://localhost:…/prices.json?key=…',
  ],
  'index-by-derive': [
    '1012 is Amsterdam',
    "{ 'Noord-Holland': 1, 'Zuid-Holland': 0 }",
    'an hour of reads: indexed 1 time',
    '3011 is Rotterdam, indexed 2 times',
    "{ 'Noord-Holland': 1, 'Zuid-Holland': 1 }",
    'as old as its oldest source: 60 min',
    'still 1: derive(places, provinces): the function of derive() failed: unknown province ??',
    '1 line in the log',
  ],
  'load-in-worker': [
    '100000 codes and 100000 latitudes, 1012 is City 12',
    'the event loop went on meanwhile',
    'kept: "edition 7"',
    'exits: load failed: …code 3 …',
    'a load that never ends was ended at its deadline: true',
  ],
  'locked-task-croner': ['instance … has sent the report', 'fired … times in … seconds, run … times'],
  'outage-test': ['…survives an outage of the price source…'],
  'own-backend': ['here 1.08, there 1.08, 1 load', 'back to 1.08, of 3 versions', "[ 'name/rates' ]"],
  'postal-codes-fastify': [
    '100 requests, 1 load of 44175 codes',
    '90210 is Beverly Hills, CA',
    '00000 is answered with 404',
    'postal-codes: load failed: …',
    '10001 is still answered with 200, from the codes in memory',
  ],
};

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

/** Inside the repository, so that `tickless` is found by its own name. */
const folder = `${root}.tmp/examples`;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
cpSync(`${root}examples/modules`, `${folder}/modules`, { recursive: true });

/** The example as JavaScript: plain Node starts in a quarter of the time that one with a loader for TypeScript takes. */
function compiled(name: string, source: string): string {
  const file = `${folder}/${name}.mjs`;
  writeFileSync(file, transformSync(source, { loader: 'ts', format: 'esm', target: 'node20' }).code);
  return file;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const patternOf = (line: string): RegExp => new RegExp(`^${line.split('…').map(escaped).join('.*')}$`);

/** The first of those lines that is not printed after the ones before it. */
function missingIn(printed: readonly string[], expected: readonly string[]): string | undefined {
  let next = 0;
  return expected.find((line) => {
    const found = printed.findIndex((text, index) => index >= next && patternOf(line).test(text));
    next = found + 1;
    return found < 0;
  });
}

/** They show an outage, which tickless logs. */
const OUTAGES = ['express-age-header', 'load-in-worker', 'postal-codes-fastify'];
const OUTAGE_LINE = /^tickless: [\w-]+: .+\n/gm;

describe('examples', () => {
  it('are all expected here', () => {
    const names = readdirSync(`${root}examples`).flatMap((file) => /^(.+)\.ts$/.exec(file)?.[1] ?? []);
    expect(Object.keys(EXPECTED).toSorted()).toEqual(names.toSorted());
  });

  for (const [name, expected] of Object.entries(EXPECTED)) {
    const mostLines = LONGER[name] ?? MOST_LINES;
    it.concurrent(`${name} prints what it promises, within ${mostLines} lines`, async () => {
      const source = readFileSync(`${root}examples/${name}.ts`, 'utf8');
      expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(mostLines);
      const { NODE_OPTIONS: _, FORCE_COLOR: __, ...env } = process.env;
      const { stdout, stderr } = await run(process.execPath, [compiled(name, source)], {
        cwd: root,
        env: { ...env, NO_COLOR: '1' },
      });
      const unexpected = OUTAGES.includes(name) ? stderr.replaceAll(OUTAGE_LINE, '') : stderr;
      expect(unexpected).toBe('');
      expect(missingIn(stdout.split('\n'), expected), stdout).toBeUndefined();
    });
  }
});
