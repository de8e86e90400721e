import { fileURLToPath } from 'node:url';

/** The program of Stryker, once it is installed. */
export function strykerProgram() {
  return fileURLToPath(new URL('../../../bin/stryker.js', import.meta.resolve('@stryker-mutator/core')));
}
