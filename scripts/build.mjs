// npm run build: compiles src into an empty dist.

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, tool } from './support/project.mjs';

// What a deleted source left behind must not be published.
rmSync(join(root, 'dist'), { recursive: true, force: true });

const [node, ...args] = tool('typescript', ['-p', 'tsconfig.build.json'], 'tsc');
const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
