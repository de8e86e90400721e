import { join } from 'node:path';
import { bundled } from './bundle.mjs';
import { root } from './project.mjs';

/** What src/worker/thread-code.ts is to contain: the bundle of src/worker/thread/main.ts, line by line. */
export async function threadCodeModule() {
  const code = await bundled(join(root, 'src/worker/thread/main.ts'), 'iife');
  const lines = code.trimEnd().split('\n');
  return [
    '// Made of src/worker/thread/main.ts by scripts/thread-code.mjs; not to be edited.',
    '',
    '/**',
    ' * What runs in a thread. A text and no file: a file would have to be found, also from within a bundle, and by a',
    ' * runtime that does not read TypeScript.',
    ' */',
    'export const threadCode: string = [',
    ...[...lines, '//# sourceURL=tickless/worker'].map((line) => `  ${JSON.stringify(line)},`),
    "].join('\\n');",
    '',
  ].join('\n');
}
