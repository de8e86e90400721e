// What Stryker reports, held against the list of survivors that can't matter. Pure.

/**
 * A mutant that no test kills. Named by what it changes and not by its line, since lines move.
 *
 * @typedef {object} Survivor
 * @property {string} file
 * @property {string} mutator
 * @property {string} line the text of the line where it begins
 * @property {string} original what was replaced
 * @property {string} replacement
 */

/** @typedef {Survivor & { reason: string }} Listed */

/** @typedef {{ line: number, column: number }} Position from 1 */

/**
 * As far as it is used here: https://github.com/stryker-mutator/mutation-testing-elements
 *
 * @typedef {object} Mutant
 * @property {string} mutatorName
 * @property {string} [replacement]
 * @property {string} status
 * @property {string} [statusReason]
 * @property {{ start: Position, end: Position }} location
 */

/** @typedef {{ files: Record<string, { source: string, mutants: Mutant[] }> }} Report */

/**
 * @typedef {object} Figures
 * @property {number} mutants those that count: neither ignored nor impossible to run
 * @property {number} killed
 * @property {number} timeout
 * @property {number} survived
 * @property {number} noCoverage
 * @property {number} pending not run
 * @property {number} score killed and timed out, of 100 mutants
 */

const oneLine = (/** @type {string} */ text) => text.replace(/\s+/g, ' ').trim();

/** @type {(source: string, location: Mutant['location']) => string} */
function textAt(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  // The last line first: it may be the only one.
  lines[last] = (lines[last] ?? '').slice(0, end.column - 1);
  lines[0] = (lines[0] ?? '').slice(start.column - 1);
  return lines.join('\n');
}

/** @type {(file: string, source: string, mutant: Mutant) => Survivor} */
function named(file, source, { mutatorName, location, replacement = '' }) {
  return {
    file,
    mutator: mutatorName,
    line: oneLine(source.split('\n')[location.start.line - 1] ?? ''),
    original: oneLine(textAt(source, location)),
    replacement: oneLine(replacement),
  };
}

const keyOf = (/** @type {Survivor} */ { file, mutator, line, original, replacement }) =>
  JSON.stringify([file, mutator, line, original, replacement].map(oneLine));

/** @type {(report: Report) => (Survivor & { at: number, status: string })[]} */
export function survivorsOf(report) {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map((mutant) => ({
        ...named(file, source, mutant),
        at: mutant.location.start.line,
        status: mutant.status,
      }))
      .sort((a, b) => a.at - b.at),
  );
}

/**
 * Takes from the second those that the first has too, one for one: where a line has two places with the same text, they
 * are two mutants, and one entry is about one of them.
 *
 * @template {Survivor} T
 * @param {readonly Survivor[]} have
 * @param {readonly T[]} of
 * @returns {T[]} what is left over
 */
function without(have, of) {
  /** @type {Map<string, number>} */
  const left = new Map();
  for (const one of have) left.set(keyOf(one), (left.get(keyOf(one)) ?? 0) + 1);
  return of.filter((one) => {
    const count = left.get(keyOf(one)) ?? 0;
    left.set(keyOf(one), count - 1);
    return count <= 0;
  });
}

/**
 * Those that are not in the list, and those of the list that the report should have and has not. Only of files that
 * the report is about. An entry stands for one mutant: of two with the same text, both are to be listed.
 *
 * @param {Report} report
 * @param {readonly Listed[]} list
 */
export function compare(report, list) {
  const survivors = survivorsOf(report);
  return {
    unlisted: without(list, survivors),
    gone: without(survivors, list).filter(({ file }) => file in report.files),
    withoutReason: list.filter(({ reason }) => !reason?.trim()),
  };
}

/**
 * A test that ran into its own timeout is not one that has seen something wrong.
 *
 * @param {Mutant} mutant
 */
const effect = ({ status, statusReason = '' }) =>
  status === 'Killed' && statusReason.includes('Test timed out') ? 'Timeout' : status;

/**
 * By Stryker's own reckoning. Nothing to mutate is a full score.
 *
 * @param {Report} report
 * @returns {Figures}
 */
export function figuresOf(report) {
  const statuses = Object.values(report.files).flatMap(({ mutants }) => mutants.map(effect));
  const count = (/** @type {string} */ wanted) => statuses.filter((status) => status === wanted).length;
  const [killed, timeout, survived, noCoverage, pending] = [
    count('Killed'),
    count('Timeout'),
    count('Survived'),
    count('NoCoverage'),
    count('Pending'),
  ];
  return scored({ killed, timeout, survived, noCoverage, pending });
}

/**
 * Of several parts together: a mutant counts as much in a small part as in a large one.
 *
 * @param {readonly Figures[]} parts
 * @returns {Figures}
 */
export function sumOf(parts) {
  const sum = (/** @type {keyof Figures} */ of) => parts.reduce((total, part) => total + part[of], 0);
  return scored({
    killed: sum('killed'),
    timeout: sum('timeout'),
    survived: sum('survived'),
    noCoverage: sum('noCoverage'),
    pending: sum('pending'),
  });
}

/** @type {(counts: Omit<Figures, 'mutants' | 'score'>) => Figures} */
function scored({ killed, timeout, survived, noCoverage, pending }) {
  const mutants = killed + timeout + survived + noCoverage;
  const score = mutants === 0 ? 100 : ((killed + timeout) / mutants) * 100;
  return { mutants, killed, timeout, survived, noCoverage, pending, score };
}
