// Feature flags with OpenFeature, from an endpoint: reloaded when they are evaluated, served while the endpoint is down, and
// a bad edition never replaces a good one.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpenFeature, ProviderEvents } from '@openfeature/server-sdk';
import { RefreshingValue } from 'tickless';
import { flagsSchema, ticklessProvider } from 'tickless/openfeature';
import { FakeClock } from 'tickless/testing';

const edition = (defaultVariant: string) => ({
  flags: { checkout: { state: 'ENABLED', variants: { new: 'v2', old: 'v1' }, defaultVariant } },
});
let answer: [status: number, body: object] = [200, edition('old')];
const server = createServer((_request, response) => {
  const [status, body] = answer;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/flags.json`;

const clock = new FakeClock(); // for the example only: no need to wait
const flags = new RefreshingValue({
  name: 'flags',
  load: async ({ signal }) => {
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`the endpoint answered ${response.status}`);
    return response.json();
  },
  schema: flagsSchema(),
  schedule: { seconds: 30 },
  retry: false,
  logger: false,
  clock,
});
flags.on('value-rejected', ({ reason }) => console.log(`refused: ${reason}`));
for (const type of Object.values(ProviderEvents)) {
  OpenFeature.addHandler(type, (details) => {
    const { message, flagsChanged } = (details ?? {}) as { message?: string; flagsChanged?: string[] };
    if (details?.providerName === 'tickless') console.log(`${type} ${message ?? flagsChanged ?? ''}`.trim());
  });
}
await OpenFeature.setProviderAndWait(ticklessProvider({ flags }));
const client = OpenFeature.getClient();

/** A request of a user; then what is due has been reloaded behind it. */
async function request(): Promise<void> {
  const { value, reason } = await client.getStringDetails('checkout', 'v1');
  console.log(`checkout ${value}, ${reason}`);
  while (flags.inspect().running) await sleep(1);
}

await request();
const steps: [status: number, body: object][] = [
  [200, edition('new')],
  [503, {}],
  [200, edition('newest')], // no such variant
  [200, edition('old')],
];
for (const step of steps) {
  answer = step;
  await clock.advance({ minutes: 3 });
  await request(); // starts the reload
  await request();
}

await OpenFeature.close();
await flags.close();
server.close();
