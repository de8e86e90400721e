// Runs examples/nestjs on the built package (`npm run build` first): installs NestJS there, checks the types, starts it, and
// fails unless it prints what it promises.

import { join } from 'node:path';
import { installApart } from './support/apart.mjs';
import { root, tool } from './support/project.mjs';
import { run } from './support/run.mjs';

const folder = join(root, 'examples/nestjs');
const PROMISED = [/^sent [23] times by 2 instances$/m, /^cleaned up: true, at most one load each: true$/m];

await installApart(folder);
const types = await run(tool('typescript', ['--noEmit', '-p', folder], 'tsc'));
const program = [process.execPath, '--import', 'tsx', join(folder, 'main.ts')];
const { code, output } = await run(program, {
  cwd: folder,
  timeoutMs: 60_000,
  env: { TSX_TSCONFIG_PATH: join(folder, 'tsconfig.json'), NODE_OPTIONS: undefined },
});
console.log(types.output + output);
const isDone = types.code === 0 && code === 0 && PROMISED.every((line) => line.test(output));
process.exitCode = isDone ? 0 : 1;
