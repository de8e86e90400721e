// Exchange rates that may be an hour old at most: a read of older ones throws instead of quoting a wrong price, and the
// error has their age.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isTicklessError, RefreshingValue } from 'tickless';
import { FakeClock } from 'tickless/testing';

let isUp = true;
const origin = createServer((_request, response) => {
  response.statusCode = isUp ? 200 : 503;
  response.end(JSON.stringify({ USD: 1.0842, JPY: 169.31 }));
}).listen(0);
await once(origin, 'listening');
const url = `http://localhost:${(origin.address() as AddressInfo).port}/latest.json`;

const clock = new FakeClock(); // a test clock, so that an hour passes at once
const rates = new RefreshingValue({
  name: 'exchange-rates',
  load: async ({ signal }) => {
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`the bank answered ${response.status}`);
    return (await response.json()) as Record<string, number>;
  },
  schedule: { minutes: 5 },
  retry: false, // further tries would wait for the test clock
  maxStaleness: { hours: 1 },
  whenTooStale: 'throw', // with 'wait' the read would wait for the reload
  logger: false, // the listener below reports failures
  clock,
});
rates.on('load-ended', ({ error }) => error && console.log(`  (${error.message})`));

async function quote(euros: number): Promise<string> {
  try {
    const { USD = Number.NaN } = await rates.get();
    return `${euros} EUR = ${(euros * USD).toFixed(2)} USD, at a rate ${(rates.inspect().age ?? 0) / 60_000} minutes old`;
  } catch (error) {
    if (!isTicklessError(error, 'TOO_STALE')) throw error;
    return `no quote: the rates are ${error.age / 60_000} minutes old`;
  }
}
async function quoteAfter(minutes: number): Promise<void> {
  await clock.advance({ minutes });
  console.log(await quote(100));
  await rates.requestStart({ wait: true }).catch(() => {}); // the example waits for the reload; a service would not
}

await quoteAfter(0);
isUp = false;
await quoteAfter(30); // the bank is down: served, and honest
await quoteAfter(31);
console.log(
  `${rates.inspect().failures} failures; the old rate, for those who want it: ${rates.peek()?.USD}`,
);
isUp = true;
await quoteAfter(1); // this read starts the reload
await quoteAfter(0);
origin.close();
