// The arguments of a script. What it does not know ends it before it does anything: a typo must not run less, or something else.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './project.mjs';

const NUMBERS = {
  'a whole number': (text) => /^-?\d+$/.test(text),
  'a whole number over 0': (text) => /^\d+$/.test(text) && Number(text) > 0,
  'a number over 0': (text) => Number(text) > 0 && Number.isFinite(Number(text)),
};

/**
 * @typedef {object} Option as `parseArgs` has it; one that is `multiple` also takes the arguments after its first value: `--only a b`
 * @property {'string' | 'boolean'} type
 * @property {boolean} [multiple]
 * @property {string | string[] | boolean} [default]
 * @property {readonly string[]} [choices] its values
 * @property {keyof typeof NUMBERS} [number] it must be one; it stays a text
 *
 * @typedef {object} Positionals
 * @property {string} [name] for the error
 * @property {readonly string[]} [choices]
 * @property {number} [most] how many. Default: any number
 */

/**
 * @param {Record<string, Option>} options
 * @param {Positionals} positionals
 * @param {readonly string[]} args
 * @throws {Error} for an argument that is unknown, or not one of its choices.
 */
export function parsed(options, positionals, args) {
  const plain = Object.entries(options).map(([name, { choices, number, ...option }]) => [name, option]);
  const config = {
    args: [...args],
    options: Object.fromEntries(plain),
    allowPositionals: true,
    tokens: true,
  };
  const { values, tokens } = parseArgs(config);
  const others = [];
  let list;
  for (const token of tokens) {
    if (token.kind === 'option') list = options[token.name].multiple ? values[token.name] : undefined;
    else if (token.kind === 'option-terminator') list = undefined;
    else (list ?? others).push(token.value);
  }
  for (const [name, { choices, number }] of Object.entries(options)) {
    if (values[name] === undefined) continue;
    for (const value of [values[name]].flat()) {
      refuseUnless(choices?.includes(value) ?? true, `--${name}`, value, `one of ${choices?.join(', ')}`);
      refuseUnless(number === undefined || NUMBERS[number](value), `--${name}`, value, number);
    }
  }
  const { name = 'argument', choices, most = Infinity } = positionals;
  others.forEach((value, index) => {
    refuseUnless(index < most, name, value, most === 0 ? 'none' : `${most} at most`);
    refuseUnless(choices?.includes(value) ?? true, name, value, `one of ${choices?.join(', ')}`);
  });
  return { values, positionals: others };
}

function refuseUnless(isRight, name, value, expected) {
  if (!isRight) throw new Error(`${name}: received ${JSON.stringify(value)}, expected ${expected}`);
}

/** Ends the process with 2, after a line of what is wrong, where the action throws. */
export function orEnd(action) {
  try {
    return action();
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

/**
 * The arguments of this process. Ends it with 2 for one that is unknown.
 *
 * @param {Record<string, Option>} [options]
 * @param {Positionals} [positionals] Default: none
 */
export const scriptArguments = (options = {}, positionals = { most: 0 }) =>
  orEnd(() => parsed(options, positionals, process.argv.slice(2)));

/**
 * Parts of the paths of tests. Vitest leaves out one that no path holds, if another one does.
 *
 * @param {string} folder of the tests, from the root
 * @param {readonly string[]} filters
 * @throws {Error} for one that no test file of the folder holds.
 */
export function checkFilters(folder, filters) {
  const paths = testsIn(folder);
  for (const filter of filters) {
    const isThere =
      paths.some((path) => path.includes(filter)) || existsSync(join(root, filter.split(':')[0]));
    refuseUnless(isThere, 'test file', filter, `a part of a path in ${folder}`);
  }
}

/** Not those of packages, which may link back to a folder above. @returns {string[]} paths from the root */
function testsIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testsIn(path);
    return path.endsWith('.test.ts') ? [path] : [];
  });
}

/** The arguments before the first option: those of Vitest may follow, with their values. */
export function leading(args) {
  const first = args.findIndex((arg) => arg.startsWith('-'));
  return first < 0 ? args : args.slice(0, first);
}
