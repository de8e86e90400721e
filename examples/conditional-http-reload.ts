// A price list over HTTP that is transferred only after a change: the load sends the ETag of the present list, and
// returns `keep()` for "304 Not Modified". The list stays, and its age starts at 0 again.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keep, type LoadContext, loaded, RefreshingValue } from 'tickless';

const prices: Record<string, number> = { apple: 120, pear: 135 };
let version = 1;
const sent: number[] = [];
const origin = createServer((request, response) => {
  const etag = `"v${version}"`;
  response.statusCode = request.headers['if-none-match'] === etag ? 304 : 200;
  sent.push(response.statusCode);
  response.setHeader('ETag', etag).end(response.statusCode === 304 ? undefined : JSON.stringify(prices));
}).listen(0);
await once(origin, 'listening');
const url = `http://localhost:${(origin.address() as AddressInfo).port}/prices.json`;

interface PriceList {
  readonly etag: string | null;
  readonly prices: Readonly<Record<string, number>>;
}

const priceList = new RefreshingValue({
  name: 'price-list',
  load: async ({ signal, previous }: LoadContext<PriceList>) => {
    const etag = previous?.value.etag;
    const response = await fetch(url, { signal, headers: etag ? { 'If-None-Match': etag } : {} });
    const { status, headers } = response;
    if (status === 304) return keep({ headers });
    if (!response.ok) throw new Error(`the source answered ${status}`);
    const list: PriceList = {
      etag: headers.get('etag'),
      prices: (await response.json()) as PriceList['prices'],
    };
    return loaded(list, { headers }); // with the headers, `schedule: httpFreshness()` would work too
  },
  schedule: { minutes: 10 },
});
priceList.on('load-succeeded', () => console.log('a new list'));
priceList.on('load-kept', () => console.log('not modified: the list in memory is still valid'));

const first = await priceList.get();
console.log(`an apple costs ${first.prices.apple}`);

const second = await priceList.refresh();
console.log(`the very same object: ${second === first}`); // nothing was sent, nothing was parsed

version = 2;
prices.apple = 125;
const third = await priceList.refresh();
console.log(`an apple costs ${third.prices.apple}`);
console.log(`the source answered ${sent.join(', ')}`);
origin.close();
