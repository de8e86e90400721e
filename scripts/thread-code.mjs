// Makes src/worker/thread-code.ts: what runs in the threads of `tickless/worker`, as one text. To be run after a change
// of src/worker/thread or of what that imports; a test compares.
//
//   node scripts/thread-code.mjs

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './support/project.mjs';
import { threadCodeModule } from './support/thread-code.mjs';

writeFileSync(join(root, 'src/worker/thread-code.ts'), await threadCodeModule());
