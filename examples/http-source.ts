// A price list over HTTP: transferred only after a change ("304 Not Modified"), served while the source is down or answers with
// an error page, and due when its headers say so.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpFreshness, isTicklessError, RefreshingValue } from 'tickless';
import { httpSource } from 'tickless/sources';

const prices: Record<string, number> = { apple: 120, pear: 135 };
let version = 1;
let fault: 'none' | 'error page' | 'overload' = 'none';
const sent: number[] = [];
const origin = createServer((request, response) => {
  const etag = `"v${version}"`;
  response.statusCode = request.headers['if-none-match'] === etag ? 304 : 200;
  response.setHeader('ETag', etag).setHeader('Cache-Control', 'max-age=600');
  let body = JSON.stringify(prices);
  if (fault === 'error page') {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    body = '<h1>Maintenance</h1>';
  }
  if (fault === 'overload') response.writeHead(503, { 'Retry-After': '60' });
  sent.push(response.statusCode);
  response.end(response.statusCode === 304 ? undefined : body);
}).listen(0);
await once(origin, 'listening');

const priceList = new RefreshingValue({
  name: 'price-list',
  load: httpSource<Record<string, number>>(
    `http://localhost:${(origin.address() as AddressInfo).port}/prices.json?key=${process.pid}`,
    { maxBytes: 1e6 },
  ),
  schedule: httpFreshness(),
  retry: false,
  logger: false,
});
priceList.on('load-ended', ({ outcome }) => {
  if (outcome === 'loaded') console.log('a new list');
  if (outcome === 'kept') console.log('not modified: the list in memory is still valid');
});

const first = await priceList.get();
console.log(`an apple costs ${first.apple}`);
console.log(`the very same object: ${(await priceList.refresh()) === first}`); // nothing was sent, nothing was parsed

version = 2;
prices.apple = 125;
console.log(`an apple costs ${(await priceList.refresh()).apple}`);

for (fault of ['error page', 'overload'] as const) {
  await priceList
    .refresh()
    .catch((error) => console.log(isTicklessError(error, 'LOAD_FAILED') && error.message));
  console.log(`still, an apple costs ${priceList.current.apple}`);
}
console.log(`the source answered ${sent.join(', ')}`);
console.log(priceList.inspect().meta?.source);
origin.close();
