// GET /metrics for Prometheus with node:http: how old values are, who loads them, what fails. The dashboard and the alert rules
// for it are in examples/grafana.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { RefreshGroup } from 'tickless';
import { prometheusMetrics } from 'tickless/prometheus';

const group = new RefreshGroup({ schedule: { minutes: 10 }, maxStaleness: { hours: 1 }, logger: false });
const register = new Registry();
prometheusMetrics(group, { register });
group.on('load-failed', ({ name, error }) => console.log(`${name}: ${error.message}`));

const rates = group.value({
  name: 'rates',
  load: async () => new Map([['USD', 1.08]]),
});
const cities = group.cache({
  name: 'cities',
  load: async (code: string) => {
    if (code === '9999') throw new Error('the source is down');
    return `City of ${code}`;
  },
  retry: false,
});

await rates.get();
rates.current.get('USD');
await cities.getMany(['1012', '9999'], { onError: () => {} });

const server = createServer(async (_request, response) => {
  response.setHeader('Content-Type', register.contentType).end(await register.metrics());
}).listen(0);
await once(server, 'listening');
const url = `http://localhost:${(server.address() as AddressInfo).port}/metrics`;

const lines = (await (await fetch(url)).text()).split('\n');
const shown = /^tickless_(value_max_staleness|reads_total|cache_|loads_total.*(loaded|failed))/;
console.log(lines.filter((line) => shown.test(line)).join('\n'));

server.close();
server.closeAllConnections();
await group.close();
