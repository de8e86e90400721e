// npm run simulate: whole clusters in virtual time, four from each seed, and the rules of the design after each step
// (test/system/simulation). What fails can be run again: the same seed is the same worlds.
//
//   --seed <n>      that one, with traces of all that happened: the scenario, and --last <lines>. Default: 150
//   --seeds <n>     how many. Default: 500
//   --from <n>      the first of them. Default: a random one
//   --ci            a few fixed seeds, those that have found something before, and 120 from the hash of the commit: each
//                   commit meets new worlds, and the same commit always the same
//
// A seed that fails prints its rule, the command that repeats it, and the last lines of its trace that name the members and
// instances concerned. The last line is `N passed, N failed`, counted by seed.

import { createHash, randomInt } from 'node:crypto';
import { scriptArguments } from './support/arguments.mjs';
import { concernedLines } from './support/concerned-lines.mjs';
import { forkProgram } from './support/fork.mjs';
import { run } from './support/run.mjs';

/** Few: a change meets more in new ones. */
const FIXED_SEEDS = 24;
const SEEDS_OF_COMMIT = 120;
/** Worlds that have broken a rule, or have shown that a rule was not exact. */
const FOUND_BEFORE = [
  949_438_975, 448_676_995, 903_605_513, 350_803_264, 273_264_188, 422_274_432, 908_222_712, 849_834_904,
  70_953_910, 762_555_665, 1_000_177_643, 652_051_490, 647_199_921, 440_672_760, 440_672_828, 1_067_334_759,
  870_975_910, 982_596_355, 686_896_522, 500_108_581, 500_109_067, 424_152_134, 127_718_043, 127_713_370,
  169_652_387, 169_653_216, 641_715_869, 112_355_233, 27_959_006, 472_505_682, 472_505_180, 42_902_491,
  42_899_818, 42_900_157, 1_030_280_532, 853_340_350, 120_289_349, 120_289_391, 492_739_860, 492_740_496,
  492_741_060, 624_966_531, 700_111_538, 700_111_623, 700_111_645, 840_811_305, 840_808_839, 248_531_350,
  248_531_579, 248_531_917, 426_921_211, 426_921_653, 426_921_677, 426_922_777, 626_391_307, 1_040_490_605,
  1_040_490_636, 1_040_486_460, 1_040_487_440, 356_791_319, 356_791_823, 718_007_951, 718_008_179,
  718_008_685, 718_010_131, 1_011_766_585, 1_011_767_770, 1_011_767_921, 1_011_768_113, 576_081_599,
  576_082_671, 576_083_211, 576_084_442, 369_057_826, 369_059_326, 369_059_546, 369_060_277, 576_082_669,
  576_082_992, 560_069_120, 560_069_192, 469_417_517, 779_489_071, 1_234_500_168, 288_480_043, 500_002_630,
  600_002_637, 700_000_457, 720_223_379, 720_224_773, 731_250_107, 779_486_979, 779_487_526, 910_000_261,
  779_483_804, 779_487_712, 779_487_717, 779_487_838, 779_487_887, 779_483_894, 779_484_861, 779_486_409,
  779_486_850, 940_135_777, 940_135_797, 940_135_901, 940_136_143, 940_136_149, 1_310_000_184, 1_310_000_235,
  1_310_000_338, 1_310_000_407, 1_310_000_533, 1_310_000_792, 1_310_000_890, 1_310_000_995, 1_310_001_083,
  1_310_001_314, 1_310_001_504, 1_310_001_645, 1_310_001_679, 1_310_001_808, 1_310_001_817, 640_449_801,
  90_343_996, 78_157_302, 853_537_158, 346_310_245, 497_514_136, 239_042_086, 239_042_110, 239_042_128,
  428_986_052,
];
/** Seeds are below that. */
const HIGHEST = 2 ** 31;
const PROGRESS_MS = 10_000;
/** A world that hangs must not hang the run: the slowest takes a few seconds. */
const SILENCE_MS = 120_000;
/** Processes. */
const JOBS = 2;
/** Lines of a trace, and their characters. */
const SHRUNK_TO = 60;
const WIDEST = 200;

const { values } = scriptArguments({
  seed: { type: 'string', number: 'a whole number' },
  seeds: { type: 'string', number: 'a whole number over 0', default: '500' },
  from: { type: 'string', number: 'a whole number' },
  last: { type: 'string', number: 'a whole number over 0', default: '150' },
  ci: { type: 'boolean', default: false },
});

const begunAt = performance.now();
const secondsPassed = () => (performance.now() - begunAt) / 1000;
const total = { passed: 0, failed: 0, steps: 0, loads: 0, lasted: 0 };

function count({ seed, violation, steps, loads, lasted, brokenTrace }) {
  total.steps += steps;
  total.loads += loads;
  total.lasted += lasted;
  if (violation === undefined) {
    total.passed += 1;
    return;
  }
  total.failed += 1;
  if (values.seed === undefined) {
    for (const line of concernedLines(brokenTrace, violation.message, SHRUNK_TO))
      console.log(line.slice(0, WIDEST));
  }
  console.log(`failed: seed ${seed}: rule ${violation.rule}: ${violation.message}`);
  console.log(`    npm run simulate -- --seed ${seed}`);
}

const runWorlds = (args, onMessage) =>
  forkProgram('test/system/simulation/main.ts', args.map(String), { onMessage, silenceMs: SILENCE_MS });

async function runSeeds(seeds) {
  const ends = Array.from({ length: Math.min(JOBS, seeds.length) }, (_, job) => {
    const ofJob = seeds.filter((_, index) => index % JOBS === job);
    return runWorlds(ofJob, count);
  });
  for (const why of await Promise.all(ends)) {
    if (why === undefined) continue;
    total.failed += 1;
    console.log(`failed: a process did not come to its end: ${why}`);
  }
}

const inARow = (from, count) => Array.from({ length: count }, (_, index) => from + index);

/** Seeds that every run of the same commit has in common. */
async function seedsOfCommit() {
  const { code, stdout } = await run(['git', 'rev-parse', 'HEAD']);
  const commit = code === 0 ? stdout.trim() : 'no commit';
  const from = createHash('sha256').update(commit).digest().readUInt32BE() % (HIGHEST / 2);
  console.log(
    `seeds 1 to ${FIXED_SEEDS}, ${FOUND_BEFORE.length} known ones, and of ${commit}: ${from} to ${from + SEEDS_OF_COMMIT - 1}`,
  );
  return [...inARow(1, FIXED_SEEDS), ...FOUND_BEFORE, ...inARow(from, SEEDS_OF_COMMIT)];
}

async function replay(seed) {
  const why = await runWorlds(['--trace', seed], (verdict) => {
    for (const [scenario, ...lines] of verdict.traces) {
      console.log([scenario, ...lines.slice(-Number(values.last))].join('\n'));
    }
    count(verdict);
  });
  if (why !== undefined) throw new Error(why);
}

const told = setInterval(() => {
  const { passed, failed } = total;
  console.log(`${secondsPassed().toFixed(0)} s: ${passed} seeds hold, ${failed} do not`);
}, PROGRESS_MS);
if (values.seed !== undefined) await replay(Number(values.seed));
else if (values.ci) await runSeeds(await seedsOfCommit());
else await runSeeds(inARow(Number(values.from ?? randomInt(HIGHEST / 2)), Number(values.seeds)));
clearInterval(told);
const { steps, loads, lasted, passed, failed } = total;
const hours = (lasted / 3_600_000).toFixed(1);
console.log(`${hours} virtual hours, ${steps} steps, ${loads} loads in ${secondsPassed().toFixed(0)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
