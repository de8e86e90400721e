// Draws the figures that the other benches have written; runs none of them. Started by `npm run bench:plot`:
//   npm run bench -- --json .tmp/bench.json
//   npm run bench:scale -- --json .tmp/scale.json
//   npm run bench:plot -- --bench .tmp/bench.json --scale .tmp/scale.json --to docs/bench

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Figures, ScaleFigures } from './figures.ts';
import { picturesOfBench } from './pictures/of-bench.ts';
import { picturesOfScale } from './pictures/of-scale.ts';
import { draw } from './pictures/picture.ts';

const { values } = parseArgs({
  options: {
    bench: { type: 'string', default: '.tmp/bench.json' },
    scale: { type: 'string', default: '.tmp/scale.json' },
    to: { type: 'string', default: 'docs/bench' },
  },
});

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
mkdirSync(values.to, { recursive: true });
for (const picture of [
  ...picturesOfBench(read(values.bench) as Figures),
  ...picturesOfScale(read(values.scale) as ScaleFigures),
]) {
  const file = join(values.to, `${picture.name}.svg`);
  writeFileSync(file, draw(picture));
  console.log(file);
}
