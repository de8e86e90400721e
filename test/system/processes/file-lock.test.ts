import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Entry } from './fixtures/contender.ts';

/** Delay of a polling process on a busy machine. */
const SLACK_MS = 10_000;

let bundle: string;
let directory: string;
const children = new Set<ChildProcess>();

/** Bundled to one file of JavaScript, so that fifty processes start quickly. */
beforeAll(async () => {
  bundle = mkdtempSync(join(tmpdir(), 'contender-'));
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true }, // the file lies in a temporary directory
    build: {
      ssr: fileURLToPath(new URL('fixtures/contender.ts', import.meta.url)),
      outDir: bundle,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'contender.mjs' } },
    },
  });
});

afterAll(() => rmSync(bundle, { recursive: true, force: true }));

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'contended-'));
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});

function start(leaseFor: number, roundFor: number, rounds: number): ChildProcess {
  const args = [join(bundle, 'contender.mjs'), directory, String(leaseFor), String(roundFor), String(rounds)];
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  child.on('exit', () => children.delete(child));
  return child;
}

async function ready(child: ChildProcess): Promise<ChildProcess> {
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

async function ended(child: ChildProcess): Promise<unknown> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode ?? child.signalCode;
}

/** A kill may have cut the last line. */
function journal(): Entry[] {
  const path = join(directory, 'journal');
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line));
}

/** Violations in the order of the entries: a process entered while another was inside with a live lease. */
function faultsOf(entries: readonly Entry[], leaseFor: number): string[] {
  const faults: string[] = [];
  let last: Entry | undefined;
  let isInside = false;
  for (const entry of entries) {
    const shown = JSON.stringify(entry);
    if (entry.step !== 'enters') {
      if (entry.token === last?.token) isInside = false; // else one whose lease was over
      continue;
    }
    if (last !== undefined) {
      if (entry.token <= last.token) faults.push(`token ${last.token} before ${shown}`);
      if (isInside && entry.at < last.askedAt + leaseFor)
        faults.push(`two inside: ${JSON.stringify(last)}, ${shown}`);
    }
    last = entry;
    isInside = true;
  }
  return faults;
}

describe('the lock of fileBackend among processes', { timeout: 60_000 }, () => {
  it('of eight that compete for 300 rounds at most one is inside, and the tokens grow', async () => {
    const leaseFor = 20_000;
    const contenders = Array.from({ length: 8 }, () => start(leaseFor, 1, 38));
    expect(await Promise.all(contenders.map(ended))).toEqual(contenders.map(() => 0));
    const entries = journal();
    const entering = entries.filter(({ step }) => step === 'enters');
    expect(entering).toHaveLength(8 * 38);
    expect(entries.filter(({ step }) => step === 'leaves')).toHaveLength(8 * 38);
    expect(entries.filter(({ step }) => step === 'late')).toEqual([]);
    expect(entering.filter(({ tookOver }) => tookOver)).toEqual([]);
    expect(faultsOf(entries, leaseFor)).toEqual([]);
    expect(new Set(entering.map(({ pid }) => pid)).size).toBe(8);
    const [folder = ''] = readdirSync(join(directory, 'locks'));
    expect(readdirSync(join(directory, 'locks', folder)).length).toBeLessThanOrEqual(17);
  });

  it('fifty that are killed inside block the others no longer than the lease', async () => {
    const leaseFor = 200;
    const spare = () => ready(start(leaseFor, 5, 0));
    const running = await Promise.all([spare(), spare(), spare()]);
    let next = spare();
    for (let killed = 0; killed < 50; killed += 1) {
      await sleep(Math.random() * 60);
      running.push(await next);
      next = spare();
      running.shift()?.kill('SIGKILL');
    }
    const seen = journal().length;
    while (journal().length < seen + 50) await sleep(20);
    const entries = journal();
    const entering = entries.filter(({ step }) => step === 'enters');
    const gaps = entering.slice(1).map(({ at }, i) => at - (entering[i]?.at ?? 0));
    expect(faultsOf(entries, leaseFor)).toEqual([]);
    expect(Math.max(...gaps)).toBeLessThan(leaseFor + SLACK_MS);
    expect(entering.filter(({ tookOver }) => tookOver).length).toBeGreaterThan(0);
  });
});
