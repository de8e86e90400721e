// Express: a readiness probe, which keeps the data fresh without traffic, the console behind a parser of bodies, and a shutdown in order.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { RefreshGroup } from 'tickless';
import { nodeConsole } from 'tickless/console/node';

const group = new RefreshGroup({ schedule: { hours: 6 } });
const countries = group.value({
  name: 'countries',
  load: async () => ({ NL: 'Netherlands' }),
  required: true,
});
const page = nodeConsole(group, {
  authorize: (_request, context) => (context as express.Request).headers['x-operator'] as string | undefined,
});

const app = express();
app.use(express.json());
app.use(page); // at /tickless; other paths go on
app.get('/ready', (_request, response) => {
  const { ok, problems } = group.health(); // starts what is due
  response.status(ok ? 200 : 503).json(problems.map(({ name, kind }) => `${name} ${kind}`));
});
app.get('/countries', async (_request, response) => void response.json(await countries.get()));

const server = app.listen(0);
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
server.closeAllConnections();
await group.close();
