// What docs/RELIABILITY.md shows of a run of `npm run faults`: faults × engines, as Markdown. Computes only.

/** These are shown first, and where they are not 0 on all backends. */
const FIRST = [
  'rounds published',
  'double rounds',
  'stale publishes',
  'versions that went back',
  'reads that failed',
  'reads that waited',
];
/** How often the fault itself was brought about. */
const HITS = /^holders (killed|stopped) |^of their results refused/;
/** Times that it took until all was well again. */
const RECOVERY = /^longest until | after, /;
const MILLISECONDS = / ms$/;

const MEDIAN = /, median$/;
const LONGEST = ', longest';
const NONE = '–';

/** @typedef {{ label: string, value: string, isBroken: boolean }} Figure */
/** @typedef {{ engine: string, version: string, scenario: number, title: string }} About */
/** @typedef {About & { isOk: boolean, figures: Figure[], notes: string[] }} Verdict */
/** @typedef {About & { leftOut: string }} LeftOut */
/**
 * What a run of the faults has come to.
 *
 * @typedef {object} FaultRun
 * @property {string} date ISO 8601
 * @property {string} node its version
 * @property {string[]} options of the command
 * @property {number} seconds
 * @property {string[]} engines
 * @property {Verdict[]} verdicts
 * @property {LeftOut[]} leftOut
 * @property {string[]} broken
 */

/**
 * A table with a column for each engine, and what has to be known of the run.
 *
 * @param {FaultRun} run
 * @returns {string}
 */
export function faultMatrix({ date, node, options, seconds, engines, verdicts, leftOut, broken }) {
  const told = [...verdicts, ...leftOut];
  const versions = engines.map((engine) => told.find((about) => about.engine === engine)?.version ?? engine);
  const titles = new Map(told.map(({ scenario, title }) => [scenario, title]));
  const rows = [...titles.keys()]
    .sort((a, b) => a - b)
    .flatMap((scenario) => {
      const found = engines.map((engine) => {
        const isOf = (about) => about.engine === engine && about.scenario === scenario;
        return verdicts.find(isOf) ?? leftOut.find(isOf);
      });
      return rowsOf(found).map((row, i) => [i === 0 ? `${scenario} ${titles.get(scenario)}` : '', ...row]);
    });
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const aligned = ['---', '---', ...versions.map(() => '---:')];
  const command = ['npm run faults', ...(options.length > 0 ? ['--', ...options] : [])].join(' ');
  return [
    `Run on ${date.slice(0, 10)} with Node ${node.replace(/^v/, '')}, in ${Math.ceil(seconds / 60)} minutes: \`${command}\`.`,
    '',
    line(['fault', 'figure', ...versions]),
    line(aligned),
    ...rows.map(line),
    ...paragraph(reasons(leftOut)),
    ...paragraph(broken.map((reason) => `Did not come to its end: ${reason}.`)),
  ].join('\n');
}

/** The rows of one scenario. @param {(Verdict | LeftOut | undefined)[]} found one for each engine */
function rowsOf(found) {
  const figures = found.flatMap((told) => told?.figures ?? []);
  const labels = [...new Set(figures.filter(isShown).map(({ label }) => label))];
  const first = FIRST.filter((label) => labels.includes(label));
  const rest = labels.filter((label) => !FIRST.includes(label));
  const rows = [...first, ...rest.filter((label) => !isSecond(label, labels))].map((label) => {
    const longest = label.replace(MEDIAN, LONGEST);
    const isPair = longest !== label && labels.includes(longest);
    const name = isPair ? label.replace(MEDIAN, ', median / longest') : label;
    return [name, ...found.map((told) => cell(told, isPair ? [label, longest] : [label]))];
  });
  // Nowhere did it come to a figure.
  return rows.length > 0 ? rows : [['', ...found.map((told) => cell(told, []))]];
}

function isShown({ label, value, isBroken }) {
  if (FIRST.includes(label)) return value !== '0' || isBroken;
  return HITS.test(label) || RECOVERY.test(label);
}

/** It stands beside its median. */
function isSecond(label, labels) {
  return label.endsWith(LONGEST) && labels.includes(label.slice(0, -LONGEST.length).concat(', median'));
}

/** @param {Verdict | LeftOut | undefined} told @param {string[]} labels whose values stand side by side */
function cell(told, labels) {
  if (told?.leftOut !== undefined) return NONE;
  const figures = labels.map((label) => told?.figures.find((figure) => figure.label === label));
  if (figures.length === 0 || figures.includes(undefined)) return told?.isOk ? NONE : '**no result**';
  const values = figures.map(({ value }, i) =>
    i < figures.length - 1 ? value.replace(MILLISECONDS, '') : value,
  );
  return `${figures.some(({ isBroken }) => isBroken) ? '**FAIL** ' : ''}${values.join(' / ')}`;
}

/** Why there is nothing in some places: one sentence for each reason of an engine. */
function reasons(leftOut) {
  const found = new Map();
  for (const { version, scenario, leftOut: reason } of leftOut) {
    const about = `${version}: ${reason}`;
    found.set(about, [...(found.get(about) ?? []), scenario]);
  }
  return [...found].map(([about, scenarios]) => `${NONE} ${scenarios.join(', ')} with ${about}.`);
}

/** @param {string[]} lines */
function paragraph(lines) {
  return lines.length === 0 ? [] : ['', lines.join('\\\n')];
}
