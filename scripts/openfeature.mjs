// Tests `tickless/openfeature` with rules in flagd's format, which `@openfeature/flagd-core` evaluates: installs that into
// test/system/openfeature. Options of Vitest may follow: `-t 'zero values'`.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installApart } from './support/apart.mjs';
import { checkFilters, leading, orEnd } from './support/arguments.mjs';
import { root, vitest } from './support/project.mjs';

const given = process.argv.slice(2);
orEnd(() => checkFilters('test/system/openfeature', leading(given)));
await installApart(join(root, 'test/system/openfeature'));
const [node, ...command] = vitest('--project=openfeature', '--reporter=default', ...given);
const { status } = spawnSync(node, command, { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
