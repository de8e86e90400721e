import type { RealServer } from '../../test/system/integration/support/servers.ts';
import type { Tally } from './stampede/messages.ts';
import { sumOf } from './stampede/reading.ts';
import { Workers } from './stampede/workers.ts';
import { strategies } from './strategies/index.ts';

const PROCESSES = 5;
const WORKERS_PER_PROCESS = 10;
export const WORKERS: number = PROCESSES * WORKERS_PER_PROCESS;
/** A tenth of those of the Internet Archive: 20 s, and loads of 500 ms. */
export const PERIOD_MS = 2000;
export const LOAD_MS = 50;

/** The result of one strategy. */
export interface Stampede extends Tally {
  readonly strategy: string;
  readonly periods: number;
  readonly loadsPerPeriod: number;
  /** By the server's own count. */
  readonly commandsPer1000Reads: number;
}

/**
 * Lets workers of several processes read a value that they share through Redis, with one strategy after the other.
 * Nothing is counted until each worker has read once.
 */
export async function measureStampedes(server: RealServer, durationMs: number): Promise<Stampede[]> {
  const settings = {
    url: server.url,
    workers: WORKERS_PER_PROCESS,
    periodMs: PERIOD_MS,
    loadMs: LOAD_MS,
  };
  const processes = Array.from({ length: PROCESSES }, () => new Workers(settings));
  try {
    await Promise.all(processes.map((each) => each.receive('ready')));
    const measured: Stampede[] = [];
    for (const { name } of strategies) {
      measured.push(await measure(name, server, processes, durationMs));
    }
    return measured;
  } finally {
    for (const each of processes) each.end();
  }
}

async function measure(
  strategy: string,
  server: RealServer,
  processes: readonly Workers[],
  durationMs: number,
): Promise<Stampede> {
  await Promise.all(processes.map((each) => each.fill(strategy)));
  const servedBefore = await server.commandsServed();
  const tallies = await Promise.all(processes.map((each) => each.run(durationMs)));
  const served = (await server.commandsServed()) - servedBefore;
  const tally = tallies.reduce(sum);
  const periods = tally.elapsedMs / PERIOD_MS;
  return {
    strategy,
    ...tally,
    periods,
    loadsPerPeriod: tally.loads / periods,
    commandsPer1000Reads: (1000 * served) / tally.reads,
  };
}

function sum(a: Tally, b: Tally): Tally {
  return {
    ...sumOf(a, b),
    loads: a.loads + b.loads,
    elapsedMs: Math.max(a.elapsedMs, b.elapsedMs),
  };
}
