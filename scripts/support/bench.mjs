import { join } from 'node:path';
import { root } from './project.mjs';

/** Room for what a million reads allocate, so that no collection falls between two looks at the heap. */
const YOUNG_GENERATION = ['--min-semi-space-size=64', '--max-semi-space-size=64'];

/**
 * The arguments for node that run a program of bench/.
 *
 * @param {string} name of its file, without `.ts`
 */
export function benchArguments(name) {
  const program = join(root, 'bench', `${name}.ts`);
  return ['--expose-gc', ...YOUNG_GENERATION, '--import', import.meta.resolve('tsx'), program];
}
