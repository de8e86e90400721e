// Runs every program in examples against the built package (`npm run build` first).
//
//   node scripts/run-examples.mjs
//
// An example ends by itself with exit code 0, prints nothing to stderr, and has at most 60 lines.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './support/project.mjs';
import { run, severalAtOnce } from './support/run.mjs';

const TIMEOUT_MS = 60_000;
const MOST_LINES = 60;

const folder = join(root, 'examples');
const examples = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.ts')) : [];

async function runExample(file) {
  const path = join(folder, file);
  const lineCount = readFileSync(path, 'utf8').trimEnd().split('\n').length;
  const { code, stderr, output, seconds } = await run([process.execPath, '--import', 'tsx', path], {
    timeoutMs: TIMEOUT_MS,
    env: { NO_COLOR: '1', FORCE_COLOR: undefined, NODE_OPTIONS: undefined },
  });
  const problems = [
    ...(lineCount > MOST_LINES ? [`${lineCount} lines, at most ${MOST_LINES}`] : []),
    ...(code === 0 ? [] : [`exit code ${code}`]),
    ...(stderr === '' ? [] : ['prints to stderr']),
  ];
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} examples/${file} (${seconds.toFixed(1)} s)`);
  if (problems.length === 0) return true;
  console.log(`     ${problems.join('; ')}`);
  if (code !== 0 || stderr !== '') console.log(output.trimEnd().replace(/^/gm, '     '));
  return false;
}

const passed = (await severalAtOnce(examples, runExample)).filter(Boolean).length;
console.log(`${passed} of ${examples.length} examples run as they should`);
// A checkout that has the folder has examples in it.
process.exitCode = passed < examples.length || (existsSync(folder) && examples.length === 0) ? 1 : 0;
