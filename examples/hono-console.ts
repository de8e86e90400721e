// Hono: a readiness probe, which keeps the data fresh without traffic, the console as a handler of `Request`, and a shutdown in order.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { RefreshGroup } from 'tickless';
import { consoleHandler } from 'tickless/console';

const group = new RefreshGroup({ schedule: { seconds: 30 } });
const flags = group.value({ name: 'flags', load: async () => ({ newCheckout: true }), required: true });
const page = consoleHandler(group, { authorize: (request) => request.headers.get('x-operator') });

const app = new Hono();
for (const path of ['/tickless', '/tickless/*']) app.all(path, (context) => page(context.req.raw, context));
app.get('/ready', (context) => {
  const { ok, problems } = group.health(); // starts what is due
  const shown = problems.map(({ name, kind }) => `${name} ${kind}`);
  return context.json(shown, ok ? 200 : 503);
});
app.get('/flags', async (context) => context.json(await flags.get()));

const server = serve({ fetch: app.fetch, port: 0 });
await once(server, 'listening');
const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
async function ask(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${origin}${path}`, { headers });
  return `${path}: ${response.status} ${response.status === 200 ? '' : await response.text()}`.trimEnd();
}

console.log(await ask('/ready'));
await group.ready();
console.log(await ask('/ready'));
console.log((await ask('/tickless/')).slice(0, 15));
console.log(await ask('/tickless/', { 'x-operator': 'ann' }));

await page.close(); // open pages would keep their connections
server.close();
await group.close();
