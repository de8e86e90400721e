// Some of the workers of the harness, in a process of their own: `main.ts <settings as JSON>`. Carries out the commands
// of its parent, and ends with it.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from '../../../test/system/integration/support/redis-client.ts';
import { strategies } from '../strategies/index.ts';
import type { Reader } from '../strategies/strategy.ts';
import type { Command, Reply, Tally, WorkersSettings } from './messages.ts';
import { noReads, readUntil, sumOf } from './reading.ts';

const settings = JSON.parse(process.argv[2] as string) as WorkersSettings;
const { url, workers, periodMs, loadMs } = settings;
const clients = Array.from({ length: workers }, () => new Redis(url));
let readers: readonly Reader[] = [];
let loads = 0;

/** The loaded value is the instant of its load. */
async function load(): Promise<string> {
  loads += 1;
  await sleep(loadMs);
  return String(Date.now());
}

async function fill(name: string): Promise<void> {
  const strategy = strategies.find((each) => each.name === name);
  if (strategy === undefined) throw new Error(`unknown strategy ${name}`);
  const key = `stampede:${name}`;
  readers = clients.map((redis) => strategy.open({ redis, key, periodMs, loadMs, load }));
  await Promise.all(readers.map((reader) => reader.read()));
}

async function run(durationMs: number): Promise<Tally> {
  loads = 0;
  const begunAt = performance.now();
  const reads = await Promise.all(readers.map((reader) => readUntil(begunAt + durationMs, reader, loadMs)));
  const elapsedMs = performance.now() - begunAt;
  await Promise.all(readers.map((reader) => reader.close()));
  return { loads, elapsedMs, ...reads.reduce(sumOf, noReads) };
}

async function execute(command: Command): Promise<Reply> {
  if (command.kind === 'run') return { kind: 'ran', tally: await run(command.durationMs) };
  await fill(command.strategy);
  return { kind: 'filled' };
}

function send(reply: Reply): void {
  process.send?.(reply);
}

process.on('message', async (command: Command) => send(await execute(command)));
process.on('disconnect', () => process.exit());
await Promise.all(clients.map((redis) => redis.ping()));
send({ kind: 'ready' });
