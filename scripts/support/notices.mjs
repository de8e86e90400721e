// Packages whose code is part of a bundle.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

/** A comment with the notice that their MIT licenses ask for. */
export function noticeOf(packages) {
  return `/* With ${packages.map(notice).join('; ')}. */`;
}

function notice(name) {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (license !== 'MIT') throw new Error(`${name} has the license ${license}: its notice is to be looked at`);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8');
  const [copyright] = /^\s*(?:\(c\)|Copyright).*$/im.exec(text) ?? [`the authors of ${name}`];
  return `${name} ${version}, ${copyright.trim()}, MIT license`;
}
