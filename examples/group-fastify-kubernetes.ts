// A Fastify service in Kubernetes, with all its reference data in one group: a readiness probe that fails only when reads
// would fail and that keeps the data fresh without traffic, and a graceful shutdown on SIGTERM.
//
//   spec:
//     terminationGracePeriodSeconds: 30 # longer than the timeout of group.close() below
//     containers:
//       - name: prices
//         readinessProbe: { httpGet: { path: /ready, port: 3000 }, periodSeconds: 5, failureThreshold: 2 }
//         livenessProbe: { httpGet: { path: /live, port: 3000 }, periodSeconds: 10 } # independent of the data
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { RefreshGroup } from 'tickless';

const logger = { warn: console.log, error: console.log };
const group = new RefreshGroup({ schedule: { minutes: 10 }, coolDown: 50, logger });
let loads = 0;
const rates = group.value({
  name: 'exchange-rates',
  required: true, // not ready without it
  load: async ({ signal }) => {
    await sleep(50, undefined, { signal });
    if (++loads === 1) throw new Error('the source is not up yet'); // ready() tries again
    return new Map([['USD', 1.08]]);
  },
});
const cities = group.cache({ name: 'cities', load: async (code: string) => `city of ${code}` });

const app = Fastify();
app.get('/live', () => 'alive'); // a restart of the service would not help the source
app.get('/ready', (_request, reply) => {
  const { ok, problems } = group.health(); // also starts what is due
  const report = problems.map(({ name, message }) => `${name} ${message}`);
  return reply.code(ok ? 200 : 503).send(report);
});
app.get<{ Params: { code: string } }>('/cities/:code', async ({ params }) => cities.get(params.code));
app.get('/rates', async () => Object.fromEntries(await rates.get()));
const service = await app.listen({ port: 0 }); // 3000 in the cluster
const ended = new Promise<void>((resolve) => {
  process.once('SIGTERM', async () => {
    await app.close(); // accepts no more requests
    await group.close({ timeout: { seconds: 20 } }); // running loads may finish; longer ones are aborted
    resolve();
  });
});

const show = async (path: string) => {
  const answer = await fetch(service + path);
  console.log(path, answer.status, await answer.text());
};
await show('/live');
await show('/ready');
await group.ready({ timeout: { seconds: 20 } }); // loads what is required, before the first request needs it
await show('/ready');
rates.invalidate();
await show('/ready'); // a probe starts the reload of what is due, also without traffic
await show('/cities/1012'); // so does a read of another member
process.kill(process.pid, 'SIGTERM');
await ended;
console.log(`closed after ${loads} loads of ${rates.inspect().name}, the last of which came to its end`);
