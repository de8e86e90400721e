// A check of speed that does not depend on the machine: ratios to a reference in the same process, and allocated
// bytes. Now and then V8 compiles a loop before it has seen enough of it, for as long as the process lives, and other load on the
// machine distorts a measurement: medians over processes count. Started by scripts/bench.mjs.

import { medians } from '../scripts/support/medians.mjs';
import { apart } from './apart.ts';
import type { Judged } from './races.ts';
import { table } from './table.ts';

const MOST_BYTES = 0.2;

const isGood = ({ figure, most }: Judged): boolean => figure <= most;

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

const judged = [...(await medians(allocations)), ...(await medians(() => apart('races')))];
const rows = judged.map((one) => {
  const { name, beside, figure, most } = one;
  return [name, beside, figure.toFixed(figure < 0.1 ? 3 : 2), `${most}${isGood(one) ? '' : ' MISSED'}`];
});
console.log(table(['The gate for speed', 'beside', 'median ratio', 'at most'], rows));
for (const one of judged.filter((each) => !isGood(each)))
  console.log(`failed: ${one.name}, beside ${one.beside}: ${one.figure.toFixed(2)}, at most ${one.most}`);
const passed = judged.filter(isGood).length;
console.log(`${passed} passed, ${judged.length - passed} failed`);
process.exitCode = passed === judged.length ? 0 : 1;
