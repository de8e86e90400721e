// node docs/migrating.mjs <file or folder>…: rewrites code of before 1.0 to the names of 1.0. What it can't tell for certain it
// leaves as it is, and the compiler names: see the table of migrating.md. Look at what it changed before you commit it.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each with its replacement, in this order. */
const RULES = [
  // Changes reach all instances.
  [/\(\{ everywhere: true \}\)/g, '()'],
  [/, \{ everywhere: true \}/g, ''],
  [/\beverywhere: true, /g, ''],
  [/, everywhere: true \}/g, ' }'],
];

const CODE = /\.([cm]?[jt]sx?|md)$/;

for (const path of process.argv.slice(2).flatMap(filesOf)) {
  const before = readFileSync(path, 'utf8');
  const after = RULES.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), before);
  if (after === before) continue;
  writeFileSync(path, after);
  console.log(path);
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name !== 'node_modules');
  return names.flatMap((name) => filesOf(join(path, name))).filter((file) => CODE.test(file));
}
