// npm run build: generates the code of threads, and compiles src into an empty dist.

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, tool } from './support/project.mjs';
import { setup as generateThreadCode } from './thread-code.mjs';

// What a deleted source left behind must not be published.
rmSync(join(root, 'dist'), { recursive: true, force: true });

await generateThreadCode();

function compile(project) {
  const [node, ...args] = tool('typescript', ['-p', project], 'tsc');
  return spawnSync(node, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

// The second finds what the core would need of Node.
process.exitCode = compile('tsconfig.build.json') || compile('tsconfig.core.json');
