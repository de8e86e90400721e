// The gate for speed (bench/gate.ts): ratios measured in one process, and bytes that a fresh read allocates. Needs
// `npm run build` first. The last line is `N passed, N failed`.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './support/project.mjs';

/** Room for what a million reads allocate, so that no collection falls between two looks at the heap. */
const FLAGS = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];

const { status } = spawnSync(
  process.execPath,
  [...FLAGS, '--import', import.meta.resolve('tsx'), join(root, 'bench', 'gate.ts')],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
