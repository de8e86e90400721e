// Events as log lines, and a graceful shutdown: on SIGTERM the server stops accepting requests, a running reload may
// finish, and no further one starts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventTypes, RefreshingValue } from 'tickless';

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

const seen: string[] = [];
for (const type of eventTypes) {
  keys.on(type, (event) => {
    seen.push(event.type);
    console.log(JSON.stringify(event));
  });
}

const server = createServer(async (_request, response) => {
  response.end(JSON.stringify(await keys.get()));
}).listen(0);
await once(server, 'listening');

process.once('SIGTERM', async () => {
  console.log('SIGTERM');
  server.close();
  server.closeIdleConnections();
  await keys.close({ timeout: { seconds: 5 } }); // a longer load is aborted
  console.log(`closed, and still serving ${await keys.get()}`);

  assert.deepEqual(keys.current, ['key-2']); // the running reload has finished
  assert.equal(loads, 2);
  const load = ['load-started', 'load-succeeded'];
  assert.deepEqual(
    seen.filter((type) => type !== 'stale-served'),
    [...load, ...load, 'closed'],
  );
});

// A request; then the keys are rotated, and the next request starts a reload, during which the process is stopped.
const url = `http://localhost:${(server.address() as AddressInfo).port}`;
assert.deepEqual(await (await fetch(url)).json(), ['key-1']);
keys.invalidate();
assert.deepEqual(await (await fetch(url)).json(), ['key-1']);
process.kill(process.pid, 'SIGTERM');
