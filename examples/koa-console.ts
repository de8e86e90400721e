// Koa: JSON with correct headers Age and Cache-Status, a readiness probe, which keeps the data fresh without traffic, the console
// before it, and a shutdown in order.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { ageHeaders, RefreshGroup } from 'tickless';
import { nodeConsole } from 'tickless/console/node';

const group = new RefreshGroup({ schedule: { minutes: 10 } });
const rates = group.value({ name: 'rates', load: async () => ({ USD: 1.08 }), required: true });
const page = nodeConsole(group, { authorize: (request) => request.headers.get('x-operator') });

const app = new Koa();
app.use(async (context, next) => {
  if (context.path !== '/ready') return next();
  const { ok, problems } = group.health(); // starts what is due
  context.status = ok ? 200 : 503;
  context.body = problems.map(({ name, kind }) => `${name} ${kind}`);
});
app.use(async (context) => {
  context.body = await rates.get();
  context.set({ ...ageHeaders(rates.inspect()) });
});

const others = app.callback();
const server = createServer(
  (request, response) => page(request, response, () => void others(request, response)), // at /tickless; other paths go on to Koa
);
server.listen(0);
await once(server, 'listening');
const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
async function ask(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${origin}${path}`, { headers });
  return `${path}: ${response.status} ${response.status === 200 ? '' : await response.text()}`.trimEnd();
}

console.log(await ask('/ready'));
await group.ready();
console.log(await ask('/ready'));
const answer = await fetch(`${origin}/rates`);
console.log(
  `Age: ${answer.headers.get('age')}, ${answer.headers.get('cache-status')}, ${await answer.text()}`,
);
console.log((await ask('/tickless/')).slice(0, 15));
console.log(await ask('/tickless/', { 'x-operator': 'ann' }));

await page.close(); // open pages would keep their connections
server.close();
server.closeAllConnections();
await group.close();
