// What every runtime must do with tickless. Web APIs only. Returns what it did, or throws.

import {
  absent,
  isTicklessError,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
} from 'tickless';
import { cron, dailyAt } from 'tickless/calendar';
import { jwks } from 'tickless/jwks';
import { memoryBackend } from 'tickless/memory';
import { httpSource } from 'tickless/sources';
import { FakeClock, lockConformance } from 'tickless/testing';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function check(holds, what) {
  if (!holds) throw new Error(`does not hold: ${what}`);
}

async function rejectionOf(promise) {
  return promise.then(
    () => check(false, 'rejects'),
    (error) => error,
  );
}

const checks = {
  async 'keys of an issuer verify, imported by this platform'() {
    const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
    const algorithms = {
      RS256: { name: 'RSASSA-PKCS1-v1_5', ...rsa },
      PS256: { name: 'RSA-PSS', saltLength: 32, ...rsa },
      ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
      EdDSA: { name: 'Ed25519' },
    };
    const bytes = new TextEncoder().encode('a token');
    for (const [alg, parameters] of Object.entries(algorithms)) {
      const { privateKey, publicKey } = await crypto.subtle.generateKey(parameters, true, ['sign', 'verify']);
      const { kty, n, e, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
      const set = { keys: [{ kid: alg, kty, n, e, crv, x, y }] };
      const fetch = async () => new Response(JSON.stringify(set));
      const keys = jwks({ url: 'https://issuer.example/keys' }, { fetch, logger: false });
      const signature = await crypto.subtle.sign(parameters, privateKey, bytes);
      const key = await keys({ alg, kid: alg });
      check(await crypto.subtle.verify(parameters, key, signature, bytes), alg);
      check(
        (await keys.pem({ header: { alg } })).startsWith('-----BEGIN PUBLIC KEY-----\n'),
        `PEM of ${alg}`,
      );
      const { code } = await rejectionOf(keys({ alg, kid: 'unknown' }));
      check(code === 'ERR_TICKLESS_JWKS_NO_KEY', 'unknown keys');
    }
  },

  async 'a due value is served, and reloads behind'() {
    let loads = 0;
    const value = new RefreshingValue({ name: 'v', load: async () => ++loads, schedule: 20 });
    await value.get();
    await sleep(40);
    check(value.current === 1 && loads === 1, 'served at once');
    await sleep(20);
    check(value.peek() === 2, 'reloaded behind');
  },

  async 'bursts of reads, awaited and not, reload on time'() {
    let loads = 0;
    const value = new RefreshingValue({ name: 'v', load: async () => ++loads, schedule: 20 });
    for (let round = 1; round <= 3; round++) {
      for (let i = 0; i < 3000; i++) check((await value.get()) >= 1 && value.current >= 1, 'served');
      await sleep(40);
      const before = loads;
      await value.get();
      await sleep(20);
      check(loads === before + 1, 'one reload');
    }
  },

  async 'a synchronous load works on the first read, and behind later ones'() {
    let loads = 0;
    const value = new RefreshingValue({ name: 'v', load: () => ++loads, schedule: 20 });
    check(value.current === 1, 'at once');
    await sleep(40);
    check(value.current === 1, 'served');
    await sleep(20);
    check(value.peek() === 2, 'reloaded');
  },

  async 'a load that never settles ends at its deadline'() {
    const value = new RefreshingValue({ name: 'v', load: () => new Promise(() => {}), timeout: 20 });
    check(isTicklessError(await rejectionOf(value.get()), 'TIMED_OUT'), 'TIMED_OUT');
  },

  async 'calendar schedules know zones'() {
    const clock = new FakeClock({ now: '2026-03-28T12:00:00Z' });
    for (const schedule of [
      dailyAt('02:30', { zone: 'Europe/Amsterdam' }),
      cron('30 2 * * *', { zone: 'Europe/Amsterdam' }),
    ]) {
      const executor = new PeriodicExecutor(() => {}, { name: 'e', schedule, clock });
      await executor.requestStart();
      check(
        new Date(executor.inspect().nextExecuteTime).toISOString() === '2026-03-29T01:00:00.000Z',
        'after the gap',
      );
      await executor[Symbol.asyncDispose]();
    }
  },

  async 'a thousand keys come in two calls, and bursts of reads see them fall due'() {
    let calls = 0;
    const cache = new RefreshingCache({
      name: 'c',
      loadMany: async (keys) => {
        calls += 1;
        return new Map(keys.map((key) => [key, key < 0 ? absent() : `${key}@${calls}`]));
      },
      batchSize: 500,
      schedule: 1000,
      random: () => 1 - 2 ** -53,
    });
    const keys = Array.from({ length: 1000 }, (_, key) => key);
    await Promise.all(keys.map((key) => cache.get(key)));
    check(calls === 2 && cache.size === 1000, 'two calls');
    for (let i = 0; i < 10_000; i++) cache.current(i % 10);
    await sleep(1050);
    check(cache.current(5) === '5@1', 'served');
    await sleep(50);
    check(cache.peek(5) === '5@3', 'reloaded behind');
    check(isTicklessError(await rejectionOf(cache.get(-1)), 'ABSENT'), 'ABSENT');
  },

  async 'a read starts what else is due in its group'() {
    const group = new RefreshGroup({ schedule: 20 });
    let loads = 0;
    const first = group.value({ name: 'first', load: async () => 1, required: true });
    group.value({ name: 'second', load: async () => ++loads, required: true });
    check((await group.ready({ timeout: 1000 })).ok, 'ready');
    await sleep(40);
    check(first.current === 1, 'served');
    await sleep(20);
    check(loads === 2 && group.health().ok, 'the second too');
    await group.close();
  },

  async 'of three instances one loads, and the others take over its snapshot'() {
    const backend = memoryBackend();
    let loads = 0;
    const load = async ({ token }) => {
      loads += 1;
      await sleep(10);
      return { load: loads, isFenced: token > 0 };
    };
    const make = () => new RefreshingValue({ name: 'shared', load, backend, schedule: 1000 });
    const values = [make(), make(), make()];
    const first = await Promise.all(values.map((value) => value.get()));
    check(loads === 1 && first.every((value) => value.load === 1 && value.isFenced), 'one load');
    await sleep(1050);
    for (const value of values) value.current;
    await sleep(350); // an instance that waits for a result looks again after a quarter of the period
    for (const value of values) value.current;
    await sleep(50);
    check(loads === 2 && values.every((value) => value.peek().load === 2), 'one reload');
    await Promise.all(values.map((value) => value.close()));
    check((await backend.lock.inspect('shared')).state === 'done', 'given back');
  },

  async 'a lock in memory keeps its promises'() {
    const { lock } = memoryBackend();
    const cases = lockConformance({ lock: () => lock });
    await Promise.all(cases.map(({ run }) => run()));
  },

  async 'a source over HTTP asks for a new edition only, and reads no more than it may'() {
    const asked = [];
    let body = '{"apple":120}';
    const fetch = async (_, { headers }) => {
      asked.push(headers['if-none-match']);
      if (headers['if-none-match'] === '"1"' && body.length < 100) return new Response(null, { status: 304 });
      return new Response(body, { headers: { etag: '"1"' } });
    };
    const load = httpSource('http://prices.example/all?key=1', { fetch, maxBytes: 100 });
    const value = new RefreshingValue({ name: 'v', load, retry: false, logger: false });
    const first = await value.get();
    check(first.apple === 120 && (await value.refresh()) === first && asked[1] === '"1"', '304 keeps it');
    body = body.padEnd(1000);
    const error = await rejectionOf(value.refresh());
    check(isTicklessError(error, 'LOAD_FAILED') && error.message.includes('more than maxBytes'), 'it is cut');
    check((await value.get()) === first, 'nothing is lost');
  },
};

export async function runAll() {
  for (const [name, run] of Object.entries(checks)) {
    try {
      await run();
    } catch (error) {
      throw new Error(`${name}: ${error?.message ?? error}`);
    }
  }
  return `${Object.keys(checks).length} checks`;
}

let shared;

/**
 * Reads a value so often, and once more: what that came to. All requests have the value in common.
 *
 * @public called by the worker in check-runtimes.mjs
 */
export async function readAfterBurst(reads) {
  const limits = { schedule: 200, maxStaleness: 300, whenTooStale: 'throw' };
  shared ??= new RefreshingValue({ name: 'v', load: async () => 'served', logger: false, ...limits });
  for (let i = 0; i < reads; i++) await shared.get();
  return shared.get().catch(({ code }) => code);
}
