// Serverless, where a process is frozen between requests: the cron of the platform calls a handler every few minutes. The
// handler starts the due loads, and passes them to `waitUntil` of the platform. Requests then find fresh data.
import { RefreshGroup, withJitter } from 'tickless';
import { FakeClock } from 'tickless/testing';

const clock = new FakeClock(); // so that this example does not wait for the cron; omit it
const group = new RefreshGroup({
  schedule: { minutes: 10 },
  concurrency: 2,
  retry: false, // further tries would wait for the test clock
  logger: { warn: console.log, error: console.log },
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
  schedule: withJitter({ minutes: 10 }, 0), // by default keys are spread; here each prints at a known time
});

/** As in Cloudflare Workers; on Vercel it is a GET route, and `waitUntil` comes from `@vercel/functions`. */
interface Context {
  waitUntil(promise: Promise<unknown>): void;
}
function scheduled(context: Context): void {
  group.requestStart({ waitUntil: (promise) => context.waitUntil(promise) });
}

/** Stands for the platform: it freezes the process once all that it was told to wait for has settled. */
async function hit(): Promise<void> {
  const awaited: Promise<unknown>[] = [];
  scheduled({ waitUntil: (promise) => void awaited.push(promise) });
  await Promise.all(awaited); // never rejects
  const time = new Date(clock.now()).toISOString().slice(11, 16);
  console.log(`${time} loaded ${loaded.splice(0).join(', ') || 'nothing'}`);
}

await hit(); // never loaded; the cache holds no key yet
console.log(`1012 is ${await cities.get('1012')}`); // a request
loaded.length = 0;
await clock.advance({ minutes: 5 });
await hit();
await clock.advance({ minutes: 5 });
isDown = true;
await hit(); // one source is down: the others are not held up
isDown = false;
await clock.advance({ minutes: 5 });
await hit();
console.log(`a request finds the rates ${rates.inspect().state}`);
await group.close();
