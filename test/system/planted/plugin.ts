import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Plugin, transformWithEsbuild } from 'vite';
import { type Fault, plant } from './plant.ts';

/** Plants faults into the modules of a folder as they are loaded, after their types were taken out. */
export function planted(root: string, faults: readonly Fault[]): Plugin {
  return {
    name: 'planted-faults',
    transform(code, id) {
      const file = relative(root, id).replaceAll('\\', '/');
      const own = faults.filter((fault) => fault.in === file);
      return own.length === 0 ? undefined : { code: plant(code, own), map: null };
    },
  };
}

/** Why a fault can't be planted: the code has changed. `undefined`: it can. */
export async function problemOf(root: string, fault: Fault): Promise<string | undefined> {
  const path = join(root, fault.in);
  try {
    const { code } = await transformWithEsbuild(await readFile(path, 'utf8'), path, { target: 'es2022' });
    plant(code, [fault]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
