// A check of speed that does not depend on the machine: ratios to a reference in the same process, and allocated
// bytes. Started by scripts/bench.mjs.

import { apart } from './apart.ts';
import type { Judged } from './races.ts';
import { table } from './table.ts';

/**
 * Other load on the machine distorts a measurement, and now and then V8 compiles a loop before it has seen enough of it, for as
 * long as the process lives: another one does not. So the best of three counts.
 */
const MOST_PROCESSES = 3;
const MOST_BYTES = 0.2;

const isGood = ({ figure, most }: Judged): boolean => figure <= most;

/** The least figures of as few processes as it takes. */
function least(measure: () => readonly Judged[]): readonly Judged[] {
  let best = measure();
  for (let processes = 1; processes < MOST_PROCESSES && !best.every(isGood); processes++) {
    const others = measure();
    best = best.map((one, at) => ({ ...one, figure: Math.min(one.figure, (others[at] as Judged).figure) }));
  }
  return best;
}

function allocations(): Judged[] {
  const [clock, ...reads] = apart('allocations');
  const about = `${clock?.bytes.toFixed(1)} of the clock apart`;
  return reads.map(({ name, bytes }) => ({
    name: `bytes of a read: ${name}`,
    beside: about,
    figure: bytes,
    most: MOST_BYTES,
  }));
}

const judged = [...least(allocations), ...least(() => apart('races'))];
const rows = judged.map((one) => {
  const { name, beside, figure, most } = one;
  return [name, beside, figure.toFixed(figure < 0.1 ? 3 : 2), `${most}${isGood(one) ? '' : ' MISSED'}`];
});
console.log(table(['The gate for speed', 'beside', 'ratio', 'at most'], rows));
const passed = judged.filter(isGood).length;
console.log(`${passed} passed, ${judged.length - passed} failed`);
process.exitCode = passed === judged.length ? 0 : 1;
