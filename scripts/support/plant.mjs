import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './project.mjs';

/**
 * A copy of parts of the project with one fault in it, inside the repository so that packages resolve. Resolves with
 * its folder, which the caller removes.
 *
 * @param {{ file: string, find: string, put: string }} fault `find` must occur exactly once in `file`.
 * @param {readonly string[]} parts files and folders.
 */
export async function plant({ file, find, put }, parts) {
  await mkdir(join(root, '.tmp'), { recursive: true });
  const copy = await mkdtemp(join(root, '.tmp', 'fault-'));
  for (const part of parts) await cp(join(root, part), join(copy, part), { recursive: true });
  const path = join(copy, file);
  const source = await readFile(path, 'utf8');
  const pieces = source.split(find);
  if (pieces.length !== 2) {
    await rm(copy, { recursive: true });
    throw new Error(`${file} has ${pieces.length - 1} places like ${JSON.stringify(find)}, not 1`);
  }
  await writeFile(path, pieces.join(put));
  return copy;
}
