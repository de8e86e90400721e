// Packages whose code is part of a bundle.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.mjs';

/** The licenses that may be bundled, with words of each: both ask for their whole text, which the notices have. */
export const BEGINNINGS = {
  MIT: 'Permission is hereby granted',
  'BSD-3-Clause': 'Redistribution and use in source and binary forms',
};

/** The folders of the packages with code in a bundle, from the metafile of esbuild. */
export function packagesIn({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = files.map((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort();
}

/** A comment in the bundle: the packages with their copyright. Their licenses are in {@link noticesOf}. */
export function noticeOf(packages) {
  const notices = packages
    .map(licenseOf)
    .map(({ title, copyright, license }) => `${title}, ${copyright}, ${license} license`);
  return `/* With ${notices.join('; ')}. */`;
}

/** The file of notices in the package: the whole license of each, as it asks for. */
export function noticesOf(packages) {
  const sections = [...new Set(packages)]
    .sort()
    .map(licenseOf)
    .map(({ title, text }) => `${title}\n\n${text}\n`);
  const line = `${'-'.repeat(80)}\n\n`;
  const intro = 'tickless is bundled with code of these packages, each under its license.\n\n';
  return `${intro}${line}${sections.join(`\n${line}`)}`;
}

function licenseOf(path) {
  const folder = join(root, path);
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const beginning = BEGINNINGS[license];
  if (beginning === undefined)
    throw new Error(`${name} has the license ${license}: its notice is to be looked at`);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no file with its license`);
  const text = readFileSync(join(folder, file), 'utf8').trim();
  if (!text.includes(beginning)) throw new Error(`${name}: ${file} is not its license`);
  const [copyright] = /^.*(?:\(c\)|Copyright).*$/im.exec(text) ?? [`the authors of ${name}`];
  return { title: `${name} ${version}`, copyright: copyright.trim(), license, text };
}
