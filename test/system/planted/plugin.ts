import { relative } from 'node:path';
import type { Plugin } from 'vite';
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
