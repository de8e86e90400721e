// A release, in three steps, each after the one before was merged:
//
//   npm run release -- version    takes the changes in .changeset: the next version, and its section of CHANGELOG.md
//   npm run release               all checks of the package, and a dry run of `npm publish`
//   npm run release -- publish    the same, and publishes with provenance: only in CI, which signs where it was built
//
// Changesets is a package of its own, scripts/release/package.json, installed where it is missing.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptArguments } from './support/arguments.mjs';
import { npm, root } from './support/project.mjs';

/** @param {string[]} command */
function succeed([file, ...args]) {
  if (spawnSync(file, args, { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1);
}
const script = (name) => [process.execPath, join(root, 'scripts', `${name}.mjs`)];

const steps = { name: 'step', choices: ['version', 'publish'], most: 1 };
const [step] = scriptArguments({}, steps).positionals;
const { stdout: changed } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
if (changed !== '') {
  console.error(`a release is made of what is committed, but there are changes:\n${changed}`);
  process.exit(1);
}

if (step === 'version') {
  const folder = join(root, 'scripts/release');
  if (!existsSync(join(folder, 'node_modules'))) {
    succeed(npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder]));
  }
  succeed([process.execPath, join(folder, 'node_modules/@changesets/cli/bin.js'), 'version']);
  // What was written by hand belongs to this version.
  const changelog = join(root, 'CHANGELOG.md');
  const text = readFileSync(changelog, 'utf8');
  writeFileSync(changelog, text.replace('\n## Unreleased\n', '\n### More\n'));
  succeed(npm(['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund']));
} else {
  if (step === 'publish' && !process.env.CI) {
    console.error('publish: only in CI, where npm can sign the provenance');
    process.exit(1);
  }
  succeed(script('build'));
  succeed(script('check-package'));
  const publish = ['publish', '--provenance', '--access', 'public', '--ignore-scripts'];
  succeed(npm(step === 'publish' ? publish : [...publish, '--dry-run']));
}
