import { build } from 'vite';
import { root } from './project.mjs';

/**
 * A module and all that it imports, as one text without imports.
 *
 * @param {string} entry
 * @param {'es' | 'iife'} format
 */
export async function bundled(entry, format) {
  const [result] = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      minify: false,
      lib: { entry, formats: [format], name: 'bundled' },
    },
  });
  return result.output[0].code;
}
