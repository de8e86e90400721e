// The service: answers look-ups from memory while the data reloads behind them. Started by main.ts.

import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { endWithParent, tell } from './in-child.ts';
import { postalCodesFrom } from './postal-codes.ts';
import { Reloads } from './reloads.ts';
import { REPORT_EVERY_MS, type ServiceReport } from './reports.ts';
import { Stopwatch } from './stopwatch.ts';

const [, , originUrl = '', port] = process.argv;
const postalCodes = postalCodesFrom(originUrl);
const reloads = new Reloads(postalCodes);
const fresh = new Stopwatch();
const reloading = new Stopwatch();
let oldestServed = 0;

const app = fastify();

app.get<{ Params: { code: string } }>('/postal-codes/:code', async (request, reply) => {
  const { places } = await postalCodes.get();
  const place = places.get(request.params.code);
  tellAge(reply);
  return place ?? reply.code(404).send({ error: `no postal code ${request.params.code}` });
});

/** Tells the reader how old the data is, and when a reload last ran: now, or so many milliseconds ago. */
function tellAge(reply: { header(name: string, value: unknown): unknown }): void {
  const { age = 0, state, running } = postalCodes.inspect();
  oldestServed = Math.max(oldestServed, age);
  reply.header('x-age-ms', Math.round(age));
  reply.header('x-state', state);
  reply.header('x-reloaded-ms-ago', running ? 0 : reloads.sinceEnd.toFixed(3));
}

app.addHook('onResponse', async (_request, reply) => {
  (postalCodes.inspect().running ? reloading : fresh).record(reply.elapsedTime);
});

app.get('/status', async () => {
  const { value, lastError, nextExecuteTime, ...status } = postalCodes.inspect();
  return {
    ...status,
    lastError: lastError?.message,
    nextExecuteTime: new Date(nextExecuteTime),
    edition: value?.edition,
    places: value?.places.size,
    loads: reloads.counts,
  };
});

function report(): ServiceReport {
  const { value, state, running, age = 0, failures, lastError, nextExecuteTime } = postalCodes.inspect();
  return {
    loads: reloads.counts,
    state,
    running,
    age,
    failures,
    lastError: lastError?.message,
    nextExecuteTime,
    edition: value?.edition ?? 0,
    oldestServed,
    fresh: fresh.read(),
    reloading: reloading.read(),
  };
}

endWithParent();
await postalCodes.requestStart(); // load before the first reader comes
await app.listen({ port: Number(port), host: '127.0.0.1' });
setInterval(() => tell<ServiceReport>({ kind: 'report', report: report() }), REPORT_EVERY_MS);
tell({ kind: 'listening', port: (app.server.address() as AddressInfo).port });
