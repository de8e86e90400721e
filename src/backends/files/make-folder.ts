import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from './missing.ts';

/** Creates missing parents too. Node's `recursive` loops for ever where a file system answers ENOENT for a forbidden path. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || above === path) throw error;
    await makeFolder(above, mode);
    await mkdir(path, mode).catch((second: unknown) => {
      if (codeOf(second) !== 'EEXIST') throw second;
    });
  }
}
