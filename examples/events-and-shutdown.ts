// Events as log lines, and a graceful shutdown: on SIGTERM the server stops accepting requests, a running reload may
// finish, and no further one starts.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { RefreshingValue } from 'tickless';

let loads = 0;
const keys = new RefreshingValue({
  name: 'signing-keys',
  load: async ({ signal }) => {
    await sleep(100, undefined, { signal });
    return [`key-${++loads}`];
  },
  schedule: { minutes: 15 },
  logger: { warn: (line) => console.log('WARN', line), error: (line) => console.log('ERROR', line) },
});

keys.on('*', (event) => console.log(JSON.stringify(event)));

const server = createServer(async (_request, response) => {
  response.end(JSON.stringify(await keys.get()));
}).listen(0);
await once(server, 'listening');

process.once('SIGTERM', async () => {
  console.log('SIGTERM');
  server.close();
  server.closeIdleConnections();
  await keys.close({ timeout: { seconds: 5 } }); // what takes longer is aborted
  console.log(`closed, and still serving ${await keys.get()} after ${loads} loads`); // the reload that was under way has ended
});

// A request; then the keys are rotated, and the next request starts a reload, during which the process is stopped.
const url = `http://localhost:${(server.address() as AddressInfo).port}`;
console.log(await (await fetch(url)).text());
keys.invalidate();
console.log(await (await fetch(url)).text());
process.kill(process.pid, 'SIGTERM');
