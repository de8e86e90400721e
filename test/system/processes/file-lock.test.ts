import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Entry } from './fixtures/contender.ts';

const PROCESSES = 8;
const ROUNDS = 38;
const bundle = mkdtempSync(join(tmpdir(), 'contender-'));
const directory = mkdtempSync(join(tmpdir(), 'contended-'));

/** Bundled to one file of JavaScript, so that the processes start quickly. */
beforeAll(async () => {
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
afterAll(() => {
  for (const folder of [bundle, directory]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Runs a contender to its end. @returns its exit code, or its signal. */
async function contend(): Promise<unknown> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = [join(bundle, 'contender.mjs'), directory, `${ROUNDS}`];
  const child = spawn(process.execPath, args, {
    env,
    stdio: 'inherit',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const [code, signal] = await once(child, 'exit');
  return code ?? signal;
}

it('of eight processes that compete for a lock of fileBackend at most one is inside, and the tokens grow', async () => {
  const ended = await Promise.all(Array.from({ length: PROCESSES }, contend));
  expect(ended).toEqual(ended.map(() => 0));
  const lines = readFileSync(join(directory, 'journal'), 'utf8').trim().split('\n');
  const entries = lines.map((line): Entry => JSON.parse(line));
  const entering = entries.filter(({ step }) => step === 'enters');
  const tokens = entering.map(({ token }) => token);
  expect(tokens).toHaveLength(PROCESSES * ROUNDS);
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
  // No step of another one between those of a round, and none that came too late.
  const rounds = tokens.flatMap((token) => [`enters ${token}`, `leaves ${token}`]);
  expect(entries.map(({ step, token }) => `${step} ${token}`)).toEqual(rounds);
  expect(entering.filter(({ tookOver }) => tookOver)).toEqual([]);
  expect(new Set(entering.map(({ pid }) => pid)).size).toBe(PROCESSES);
  const [folder = ''] = readdirSync(join(directory, 'locks'));
  expect(readdirSync(join(directory, 'locks', folder)).length).toBeLessThanOrEqual(17);
});
