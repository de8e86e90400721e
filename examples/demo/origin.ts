// The origin: serves the whole data set with an ETag, and fares as a script says. A process of its own.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeEdition } from './editions.ts';
import { endWithParent, tell } from './in-child.ts';
import { type OriginReport, REPORT_EVERY_MS } from './reports.ts';
import { type Phase, RETRY_AFTER_SECONDS, type Script, script } from './script.ts';

let [phase] = script;
let edition = makeEdition(phase.edition);
let requests = 0;
let underWay = 0;
let mostAtOnce = 0;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  requests += 1;
  underWay += 1;
  mostAtOnce = Math.max(mostAtOnce, underWay);
  response.once('close', () => {
    underWay -= 1;
  });
  switch (phase.behaviour) {
    case 'hanging':
      return;
    case 'refusing':
    case 'resetting':
      request.socket.resetAndDestroy();
      return;
    case 'unavailable':
      response.writeHead(503, { 'retry-after': String(RETRY_AFTER_SECONDS) }).end();
      return;
    case 'slow':
      await sleep(phase.delayMs);
  }
  const { etag, body } = edition;
  if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
  else response.writeHead(200, { etag, 'content-type': 'application/json' }).end(body);
}

const server = createServer(answer).listen(Number(process.argv[2]), '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

function doesAnswer({ behaviour }: Phase): boolean {
  return behaviour === 'steady' || behaviour === 'slow';
}

async function enter(next: Phase): Promise<void> {
  if (next.edition !== phase.edition) edition = makeEdition(next.edition, next.flaw);
  if (!doesAnswer(phase) || !doesAnswer(next)) server.closeAllConnections(); // also those that hang
  phase = next;
  if (phase.behaviour === 'refusing') server.close();
  else if (!server.listening) await once(server.listen(port, '127.0.0.1'), 'listening');
}

/** Plays a script, over so many seconds. */
async function play(script: Script, seconds: number): Promise<void> {
  const start = performance.now();
  for (const next of script) {
    await sleep(start + next.from * seconds * 1000 - performance.now());
    if (next !== phase) await enter(next);
  }
  await sleep(start + seconds * 1000 - performance.now());
}

/** What the origin is told. */
interface Order {
  readonly script: Script;
  readonly seconds: number;
  readonly repeat: boolean;
}

process.on('message', async ({ script, seconds, repeat }: Order) => {
  do await play(script, seconds);
  while (repeat);
});
endWithParent();
setInterval(
  () => tell<OriginReport, never>({ kind: 'report', report: { phase, requests, mostAtOnce } }),
  REPORT_EVERY_MS,
);
tell({ kind: 'listening', port });
