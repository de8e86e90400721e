// The demo. Started by `npm run demo`, which builds tickless first.

import { parseArgs } from 'node:util';
import { Child } from './child.ts';
import type { OriginReport, ServiceReport } from './reports.ts';
import { run } from './run.ts';
import { serve } from './serve.ts';
import { complaints, summary } from './summary.ts';

const USAGE = `npm run demo -- [--seconds N] | --serve [--port N]
  --seconds N  how long the run takes, from 10 (default 20)
  --serve      no load generator: stays up until Ctrl-C and prints the URLs
  --port N     where the service listens with --serve (default 8080; the origin takes the next)`;

/** The shortest run in which all that the summary wants to see has time to happen. */
const SHORTEST_SECONDS = 10;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    serve: { type: 'boolean', default: false },
    port: { type: 'string', default: '8080' },
    help: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const port = Number(values.port);
const isRight = seconds >= SHORTEST_SECONDS && Number.isInteger(seconds) && port > 0 && port < 65_535;
if (values.help || !isRight) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const children: Child<unknown>[] = [];

function start<Report>(file: string, ...args: (string | number)[]): Child<Report> {
  const child = new Child<Report>(file, args);
  children.push(child);
  return child;
}

async function end(exitCode: number): Promise<never> {
  await Promise.all(children.map((child) => child.end()));
  process.exit(exitCode);
}

for (const [signal, number] of [
  ['SIGHUP', 1],
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.once(signal, () => end(128 + number));
}

// npm that is told to end does not tell what it runs. It is our parent's parent: when it goes, so does our parent.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && end(1), 500).unref();
}

try {
  const origin = start<OriginReport>('origin.ts', values.serve ? port + 1 : 0);
  const service = start<ServiceReport>('service.ts', await origin.url(), values.serve ? port : 0);
  if (values.serve) await serve(origin, service);
  const results = await run(origin, service, seconds);
  console.log(summary(results));
  const wrong = complaints(results);
  for (const complaint of wrong) console.error(`Not as it should be: ${complaint}.`);
  await end(wrong.length === 0 ? 0 : 1);
} catch (error) {
  console.error(error);
  await end(1);
}
