// Writes what a run of the faults has shown into docs/RELIABILITY.md, between the marks of the matrix:
//
//   npm run faults -- --json .tmp/faults.json && node scripts/fault-matrix.mjs .tmp/faults.json
//   node scripts/fault-matrix.mjs <json> <document>     into another document
//
// Fails where the run did, after it has written what there is.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faultMatrix } from './support/fault-matrix.mjs';
import { putBetweenMarks } from './support/marks.mjs';
import { root } from './support/project.mjs';

const [file, document = join(root, 'docs', 'RELIABILITY.md')] = process.argv.slice(2);
if (file === undefined) {
  console.error('of which run? node scripts/fault-matrix.mjs <what `npm run faults -- --json` has written>');
  process.exit(2);
}
const run = JSON.parse(await readFile(file, 'utf8'));
await putBetweenMarks(document, 'matrix', faultMatrix(run));
const isOk = run.broken.length === 0 && run.verdicts.every((verdict) => verdict.isOk);
if (!isOk) console.error('in this run some promises were not kept');
process.exitCode = isOk ? 0 : 1;
