// The bench of clusters. Started by `npm run bench:cluster`, which installs servers and drivers first.

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { type RealServer, startRedis } from '../../test/system/integration/support/servers.ts';
import { engines } from './engines.ts';
import { measureRoundCosts, type RoundCosts } from './round-costs.ts';
import { LOAD_MS, measureStampedes, PERIOD_MS, WORKERS } from './stampede.ts';
import { roundCostsTable, stampedeTable } from './tables.ts';

const INSTANCES = [1, 10, 100];

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '14' },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
if (!(Number.isInteger(rounds) && rounds > 0 && seconds > 0)) {
  console.error('--rounds must be a whole number over 0, --seconds a number over 0');
  process.exit(2);
}

async function withServer<R>(
  start: () => Promise<RealServer>,
  use: (server: RealServer) => Promise<R>,
): Promise<R> {
  const server = await start();
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cpus: cpus().length };
console.log(`
Node ${machine.node}, ${machine.cpus} × ${machine.cpu}. Servers of its own, on the same machine.
`);

const roundCosts: RoundCosts[] = [];
for (const { backend, start } of engines) {
  await withServer(start, async (server) => {
    for (const count of INSTANCES) {
      roundCosts.push(await measureRoundCosts(server, backend, count, rounds));
    }
  });
}
console.log(roundCostsTable(roundCosts));
console.log(`
${rounds} rounds each, in which all instances read all the time. Target: one load, three commands of the winner, two of
each other. One more look is taken where the engine hears of the end of a round more than 25 ms late, or a load takes
far longer than the last one: on a machine that is too busy for a hundred instances that is seen.
`);

const stampedes = await withServer(
  () => startRedis(),
  (server) => measureStampedes(server, 1000 * seconds),
);
console.log(stampedeTable(WORKERS, stampedes));
console.log(`
One Redis, a period of ${PERIOD_MS / 1000} s, loads of ${LOAD_MS} ms: a tenth of those of the Internet Archive's harness, and so are the pauses
of the workers. A miss: a read found no value, though there had been one. A wait: its process was idle for a fifth of a
load meanwhile. Who never waits is served the old value until the new one is there. Target: at most one load per period,
no miss, no waiting reader.`);

if (values.json !== undefined) {
  const figures = { machine, roundCosts, stampedes };
  writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
}
