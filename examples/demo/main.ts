// The demo. Started by `npm run demo`, which builds tickless first.

import { parseArgs } from 'node:util';
import { Processes } from './processes.ts';
import type { OriginReport, ServiceReport } from './reports.ts';
import { run } from './run.ts';
import { serve } from './serve.ts';
import { complaints, summary } from './summary.ts';

const USAGE = `npm run demo -- [--seconds N] | --serve [--port N] | --cluster [--seconds N]
  --seconds N  how long the run takes, from 5 (default 20; with --cluster 30)
  --serve      no load generator: stays up until Ctrl-C and prints the URLs
  --port N     where the service listens with --serve (default 8080; the origin takes the next)
  --cluster    four instances that share what they load, by a PostgreSQL: one of them is killed, a bad
               edition is refused, another one is rolled back`;

/** The shortest run in which all that the summary wants to see has time to happen. */
const SHORTEST_SECONDS = 5;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    serve: { type: 'boolean', default: false },
    port: { type: 'string', default: '8080' },
    cluster: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds ?? (values.cluster ? 30 : 20));
const port = Number(values.port);
const isRight =
  seconds >= SHORTEST_SECONDS &&
  Number.isInteger(seconds) &&
  port > 0 &&
  port < 65_535 &&
  !(values.serve && values.cluster);
if (values.help || !isRight) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const processes = new Processes();
processes.endWhenTold();
try {
  const { text, wrong } = await (values.cluster ? cluster() : single());
  console.log(text);
  for (const complaint of wrong) console.error(`Not as it should be: ${complaint}.`);
  await processes.end(wrong.length === 0 ? 0 : 1);
} catch (error) {
  console.error(error);
  await processes.end(1);
}

/** What is printed at the end, and what went wrong. */
interface Outcome {
  readonly text: string;
  readonly wrong: readonly string[];
}

async function single(): Promise<Outcome> {
  console.log(
    'Starts an origin with 44,000 postal codes, and a service that keeps them in memory: two processes, some seconds.',
  );
  const origin = processes.start<OriginReport>('origin.ts', values.serve ? port + 1 : 0);
  const service = processes.start<ServiceReport>('service.ts', await origin.url(), values.serve ? port : 0);
  if (values.serve) await serve(origin, service);
  await service.url();
  console.log(
    `Both are up. For ${seconds} s ten clients read postal codes, while the origin answers, is slow, hangs, fails, is down, and is back.`,
  );
  const results = await run(origin, service, seconds);
  return { text: summary(results), wrong: complaints(results, seconds) };
}

async function cluster(): Promise<Outcome> {
  // Needs more than the rest of the demo: PostgreSQL and its driver, of cluster/packages.
  const { runCluster } = await import('./cluster/run.ts');
  return runCluster(processes, seconds);
}
