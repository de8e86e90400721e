// Serverless, where a process is frozen between requests: the cron of the platform calls a handler every few minutes. The
// handler starts the due loads, and passes them to `waitUntil` of the platform. Requests then find fresh data.
import assert from 'node:assert/strict';
import { RefreshGroup } from 'tickless';
import { FakeClock } from 'tickless/testing';

const clock = new FakeClock(); // so that this example does not wait for the cron; omit it
const group = new RefreshGroup({
  schedule: { minutes: 10 },
  lookAhead: { minutes: 4 }, // members that become due before the next call are loaded by this one
  concurrency: 2,
  logger: { warn: (line) => console.log(line), error: (line) => console.log(line) },
  clock,
});
let isDown = false;
const loaded: string[] = [];
const source = async <T>(name: string, value: T): Promise<T> => {
  if (isDown && name === 'flags') throw new Error('503');
  loaded.push(name);
  return value;
};
const rates = group.value({ name: 'rates', load: () => source('rates', new Map([['USD', 1.08]])) });
group.value({ name: 'flags', load: () => source('flags', { darkMode: true }) });
const cities = group.cache({
  name: 'cities',
  load: (code: string) => source(`city ${code}`, 'Amsterdam'),
  jitter: false,
});

/** As in Cloudflare Workers; on Vercel it is a GET route, and `waitUntil` comes from `@vercel/functions`. */
interface Context {
  waitUntil(promise: Promise<unknown>): void;
}
function scheduled(context: Context): void {
  group.requestStart({ waitUntil: (promise) => context.waitUntil(promise) });
}

/** Simulates the platform: it freezes the process after all promises of `waitUntil` have settled. */
async function hit(): Promise<string[]> {
  const awaited: Promise<unknown>[] = [];
  scheduled({ waitUntil: (promise) => void awaited.push(promise) });
  await Promise.all(awaited); // never rejects
  const what = loaded.splice(0);
  console.log(`${new Date(clock.now()).toISOString().slice(11, 16)} loaded ${what.join(', ') || 'nothing'}`);
  return what;
}

assert.deepEqual(await hit(), ['rates', 'flags']); // never loaded; the cache has no key yet
assert.equal(await cities.get('1012'), 'Amsterdam'); // a request
assert.deepEqual(loaded.splice(0), ['city 1012']);
await clock.advance({ minutes: 5 });
assert.deepEqual(await hit(), []);
await clock.advance({ minutes: 5 });
isDown = true;
assert.deepEqual(await hit(), ['rates', 'city 1012']); // one source is down: the others are not affected
isDown = false;
await clock.advance({ minutes: 5 });
assert.deepEqual(await hit(), ['flags']);
console.log(`a request finds the rates ${rates.inspect().state}`);
await group.close();
