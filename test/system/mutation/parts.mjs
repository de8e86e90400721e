// The parts of src that are mutated, each with the tests that are to see it. Those that come first run first.
// A name that ends with a slash is a folder.

/**
 * @typedef {object} Part
 * @property {string[]} mutate globs
 * @property {string[]} tests
 * @property {boolean} [servers] the tests are those with real servers
 * @property {boolean} [packages] the tests need the packages of test/system/integration, and no server
 * @property {boolean} [setsTimeZone] a test sets the time zone of its process
 * @property {string[]} without tests that start processes or measure times: a busy machine would kill mutants
 */

const ENGINE = ['test/executor/', 'test/contract/rules/', 'test/cluster/', 'test/observe/'];
const CACHE = ['test/cache/'];
const LOOSE = ['test/options.test.ts', 'test/bounded.test.ts', 'test/engine-clock.test.ts'];

const WITHOUT = [
  // Thousands of cases each; the plain tests say the same of a few.
  'test/**/*.property.test.ts',
  'test/cluster/exit.test.ts',
  'test/cache/group-costs.test.ts',
  'test/lock/file-processes.test.ts',
  'test/lock/file-crashes.test.ts',
];

// They take seconds, and say of src/executor what others say of a few keys.
const OF_MANY_KEYS = ['test/cache/spread.test.ts', 'test/cluster/many-keys.test.ts'];

const ENGINES = ['redis', 'postgres', 'mysql', 'sqlite', 'sql', 'sql-statements'].map(
  (name) => `src/lock/${name}.ts`,
);
const MONGODB = 'src/lock/mongodb.ts';
const WITH_SERVERS = ['conformance', 'retention', 'commands', 'first-use', 'bad-input'].map(
  (name) => `test/system/integration/${name}.test.ts`,
);

/** @type {Readonly<Record<string, Part>>} */
export const parts = {
  schedule: {
    mutate: ['src/schedule/**/*.ts'],
    tests: ['test/schedule/'],
    setsTimeZone: true,
    without: WITHOUT,
  },
  executor: {
    mutate: ['src/executor/**/*.ts'],
    tests: [...ENGINE, ...CACHE, ...LOOSE],
    without: [...WITHOUT, ...OF_MANY_KEYS],
  },
  cache: { mutate: ['src/cache/**/*.ts'], tests: [...CACHE, ...ENGINE, ...LOOSE], without: WITHOUT },
  lock: {
    mutate: ['src/lock/**/*.ts', ...ENGINES.map((file) => `!${file}`), `!${MONGODB}`],
    tests: ['test/lock/', 'test/cluster/', 'test/contract/rules/'],
    without: WITHOUT,
  },
  // What only a server can judge: scripts and statements.
  engines: {
    mutate: ENGINES,
    tests: ['test/unit/lock/adapters.test.ts', ...WITH_SERVERS],
    servers: true,
    without: [],
  },
  // By an evaluator of pipelines: no server is to be had where this runs.
  mongodb: {
    mutate: [MONGODB],
    tests: ['test/system/integration/mongodb-by-mingo.test.ts'],
    packages: true,
    without: [],
  },
};

/**
 * Folders that are made of several parts: judged as a whole too, where all of them are run.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const folders = { 'src/lock': ['lock', 'engines', 'mongodb'] };

/** Tests that are left out by their names, `suite > test`: most measure times. */
export const leftOut = [
  // Of the tests with servers: those of stores, and those in another process, where no mutant can be switched on.
  /^[^>]* > store > /,
  /^SQLite with node:sqlite > /,
  /cost a hundred times as much as 1,000/,
  /takes time in proportion to the length/,
  /costs the same with 100 and with 100,000 keys/,
  /100,000 fall due in one period/,
  /look-ups of nonsense keys/,
  /10,000 concurrent gets/,
];
