// The gate for speed (bench/gate.ts): ratios measured in one process, and bytes that a fresh read allocates. Needs
// `npm run build` first. The last line is `N passed, N failed`.

import { spawnSync } from 'node:child_process';
import { benchArguments } from './support/bench.mjs';

const { status } = spawnSync(process.execPath, benchArguments('gate'), { stdio: 'inherit' });
process.exitCode = status ?? 1;
