// The soak with real servers: `main.ts [--seconds N]`. Starts a Redis, a PostgreSQL, proxies before them and an origin,
// and the process that uses them; lets things go wrong, and watches. Prints its verdict as one line of JSON.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { quartersOf, type Sample } from '../../soak/samples.ts';
import { atLeast, type Check, flatness, none, type Verdict } from '../../soak/verdict.ts';
import { startProxy } from '../support/proxy.ts';
import { type RealServer, startPostgres, startRedis } from '../support/servers.ts';
import { openCounter } from './connections.ts';
import { faultsOf, type Site } from './faults.ts';
import { Origin } from './origin.ts';
import type { Told } from './told.ts';

const PROGRAM = fileURLToPath(new URL('instances.ts', import.meta.url));
const FAULT_MS = [1000, 3000] as const;
/** Between two faults, of a run of ten minutes; a short one has more of them for its time. */
const CALM_MS = 8000;
/** A process with nothing left to do ends at once. */
const ENDS_WITHIN_MS = 5000;

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' } } });
const durationMs = Number(values.seconds) * 1000;

async function siteOf(server: RealServer): Promise<Site> {
  return { server, proxy: await startProxy(server) };
}

const origin = new Origin();
const originPort = await origin.listen();
const sites = await Promise.all([startRedis({ keepsData: true }).then(siteOf), startPostgres().then(siteOf)]);
const urls = sites.map(({ proxy }) => proxy.url);

// The optimiser's code would be the most that a heap gains after the first minutes, and the least that is looked for.
const child = spawn(
  process.execPath,
  [
    '--expose-gc',
    '--no-opt',
    '--import',
    import.meta.resolve('tsx'),
    PROGRAM,
    values.seconds,
    `${originPort}`,
    ...urls,
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const samples: Sample[] = [];
const checks: Check[] = [];
const faults: Record<string, number> = {};
const notes: string[] = [];
let isOver = false;
let overAt = Number.NaN;

/** One fault after the other, until it is nearly time to close. */
async function disturb(): Promise<void> {
  const all = faultsOf(sites, origin);
  const calmMs = Math.min(CALM_MS, durationMs / 40);
  const endAt = performance.now() + durationMs - 2 * FAULT_MS[1];
  for (let i = 0; performance.now() + FAULT_MS[1] < endAt; i++) {
    await sleep(calmMs);
    if (isOver) return;
    const { what, happen } = all[i % all.length] as (typeof all)[number];
    faults[what] = (faults[what] ?? 0) + 1;
    await happen(FAULT_MS[0] + Math.random() * (FAULT_MS[1] - FAULT_MS[0]));
  }
}

/** What the servers see, when all is closed. */
async function look(): Promise<void> {
  for (const { server, proxy } of sites) {
    const counter = openCounter(server);
    const seen = await counter.others();
    await counter.close();
    checks.push(none(`connections left at ${server.label}`, seen));
    checks.push(none(`connections left before ${server.label}`, proxy.connections));
  }
}

async function listen({ stdout }: ChildProcess): Promise<void> {
  let looked: Promise<void> | undefined;
  for await (const line of createInterface({ input: stdout as NonNullable<typeof stdout> })) {
    const told = JSON.parse(line) as Told;
    if (told.kind === 'sample') {
      const { sample } = told;
      const before = Object.fromEntries(
        sites.map(({ server, proxy }) => [`connections to ${server.label}`, proxy.connections]),
      );
      samples.push({ ...sample, live: { ...sample.live, ...before } });
      for (const { proxy } of sites) proxy.commands.length = 0; // it keeps what went through
    } else if (told.kind === 'closed') looked = look();
    else if (told.kind === 'over') {
      overAt = performance.now();
      notes.push(`${(100 * told.cpu).toFixed(0)} % of a processor`);
      checks.push(...told.checks);
    }
  }
  await looked;
}

const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
const watchdog = setTimeout(() => child.kill('SIGKILL'), durationMs + 60_000);
const disturbed = disturb();
await listen(child);
// Its output has ended, and so has it, or something holds it.
const [code, signal] = await ended;
isOver = true;
clearTimeout(watchdog);
const lingered = performance.now() - overAt;
checks.push({
  label: 'the process ended by itself',
  isOk: code === 0 && lingered < ENDS_WITHIN_MS,
  value: `with ${code ?? signal}, after ${lingered.toFixed(0)} ms`,
  bound: `with 0, within ${ENDS_WITHIN_MS} ms`,
});
await disturbed;
origin.close();
for (const { proxy, server } of sites) {
  await proxy.close();
  await server.close();
}
const count = Object.values(faults).reduce((sum, times) => sum + times, 0);
notes.push(...Object.entries(faults).map(([what, times]) => `${times} × ${what}`));
const quarters = quartersOf(samples);
const { done } = samples.at(-1) as Sample;
const verdict: Verdict = {
  part: 'real',
  samples,
  quarters,
  notes,
  checks: [
    ...flatness(quarters),
    ...checks,
    atLeast('reads', done.reads ?? 0, 20 * Number(values.seconds)),
    atLeast('failed loads', done['failed loads'] ?? 0, Number(values.seconds) / 10),
    atLeast('faults', count, 3),
  ],
};
console.log(JSON.stringify(verdict));
