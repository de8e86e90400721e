// Draws docs/pictures/*.svg from the code: `npm run site -- --pictures`. With --check it fails where one is not as the code draws it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Graphviz } from '@hpcc-js/wasm-graphviz';
import { read } from './read.mjs';
import { round } from './round.mjs';
import { states } from './states.mjs';

const folder = new URL('../../docs/pictures/', import.meta.url);
const graphviz = await Graphviz.load();

/** The picture has a ground of its own, so it is legible on any page; it follows the system's light or dark. */
const STYLE = `
  svg { --ground: #f6f8fa; --text: #1f2328; --line: #6e7781; --box: #ffffff; --start: #ddf4ff; --good: #dafbe1; --waits: #fff8c5; --bad: #ffebe9 }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #161b22; --text: #e6edf3; --line: #8b949e; --box: #0d1117; --start: #10304f; --good: #12361f; --waits: #3b2f0b; --bad: #4a1d1d }
  }
  text { fill: var(--text); font-size: 13px }
  .edge text, text.small { font-size: 12px; paint-order: stroke; stroke: var(--ground); stroke-width: 4px }
  .graph > polygon, .ground { fill: var(--ground); stroke: none }
  .node path, .node polygon, .node ellipse, .box { fill: var(--box); stroke: var(--line) }
  .edge path, .line { stroke: var(--line); fill: none }
  .edge polygon, .tip { fill: var(--line); stroke: var(--line) }
  .start path, .start ellipse, .box.start { fill: var(--start) }
  .good path, .box.good { fill: var(--good) }
  .waits path, .box.waits { fill: var(--waits) }
  .bad path, .box.bad { fill: var(--bad) }
  .dashed path, .dashed.line { stroke-dasharray: 5 3 }
`;
/** Laid out a little larger than it is drawn, since fonts differ. */
const FONT = 'fontname = "Helvetica,Arial,sans-serif", fontsize = 15';

function draw(dot) {
  const common = `graph [pad = 0.3, ${FONT}]; node [${FONT}]; edge [${FONT}, fontsize = 14, arrowsize = 0.7]`;
  const svg = graphviz.dot(dot.replace('{', `{ ${common};`));
  return svg.slice(svg.indexOf('<svg')).replace(/(?<=="\d+)pt"/g, 'px"');
}

const pictures = {
  read: ['The life of a read', draw(read())],
  round: ['The life of a round', await round()],
  rooms: ['The rooms of src', draw(readFileSync(new URL('rooms.dot', import.meta.url), 'utf8'))],
  states: ['The states of an entry', draw(await states())],
};
mkdirSync(folder, { recursive: true });
for (const [name, [title, svg]] of Object.entries(pictures)) {
  const file = new URL(`${name}.svg`, folder);
  const text = svg.replace(/(<svg[^>]*>)/, `$1\n<title>${title}</title>\n<style>${STYLE}</style>`);
  if (process.argv.includes('--check')) {
    if (readFileSync(file, 'utf8') === text) continue;
    console.error(`docs/pictures/${name}.svg is not as the code draws it: npm run site -- --pictures`);
    process.exitCode = 1;
  } else writeFileSync(file, text);
}
