// The parts of src that are mutated, each with the tests that are to see it, the nearest first. A name that ends with a
// slash is a folder. A file belongs to the first part that names it.

/**
 * @typedef {object} Part
 * @property {readonly string[]} files of src
 * @property {readonly string[]} tests
 * @property {boolean} [servers] the tests are those with real servers
 * @property {boolean} [packages] the tests need the packages of test/system/integration
 * @property {boolean} [ignoresStatic] tables and patterns that are made when a module is loaded are not mutated: each such
 *   mutant costs a run of all tests
 * @property {boolean} [setsProcess] a test sets the time zone or the umask of its process
 */

const integration = (/** @type {string} */ name) => `test/system/integration/${name}.test.ts`;

/** @type {Readonly<Record<string, Part>>} */
export const parts = {
  time: {
    files: ['src/time/', 'src/observe/', 'src/errors.ts', 'src/option-checks.ts'],
    tests: [
      'test/unit/time/',
      'test/unit/observe/',
      'test/contract/rules/rule-21-log-lines.test.ts',
      'test/unit/errors.test.ts',
      'test/unit/options/',
      'test/unit/value/',
    ],
  },
  schedule: {
    files: ['src/schedule/', 'src/calendar/'],
    tests: [
      'test/unit/schedule/',
      'test/unit/calendar/',
      'test/contract/http/freshness.test.ts',
      'test/property/fixed-rate-drift.test.ts',
    ],
    setsProcess: true,
  },
  options: {
    files: ['src/options/'],
    tests: ['test/unit/options/', 'test/unit/value/', 'test/unit/cluster/options.test.ts'],
  },
  engine: {
    files: ['src/engine/'],
    tests: [
      'test/unit/engine/',
      'test/unit/value/',
      'test/contract/rules/',
      'test/property/value-random-commands.test.ts',
      'test/unit/group/',
      'test/unit/cluster/',
      'test/unit/cache/',
    ],
    setsProcess: true,
    ignoresStatic: true,
  },
  value: {
    files: ['src/value/'],
    tests: [
      'test/unit/value/',
      'test/unit/options/',
      'test/contract/rules/',
      'test/unit/time/coarse-clock.test.ts',
      'test/unit/group/',
      'test/unit/cluster/status.test.ts',
      'test/unit/cluster/tasks.test.ts',
    ],
  },
  cache: {
    files: ['src/cache/'],
    tests: [
      'test/unit/cache/',
      'test/property/cache-random-commands.test.ts',
      'test/property/cache-lru.test.ts',
      'test/unit/group/',
      'test/unit/cluster/',
      'test/contract/rules/',
    ],
    ignoresStatic: true,
  },
  group: {
    files: ['src/group/', 'src/due/'],
    tests: ['test/unit/group/', 'test/unit/due/', 'test/unit/cache/'],
  },
  cluster: {
    files: ['src/cluster/'],
    tests: ['test/unit/cluster/', 'test/contract/rules/', 'test/property/snapshot.test.ts'],
    ignoresStatic: true,
  },
  // What only a server can judge: scripts and statements.
  servers: {
    files: ['src/backends/sql/', 'src/backends/redis/'],
    tests: [
      'test/unit/lock/adapters.test.ts',
      ...['conformance', 'retention', 'commands', 'first-use', 'bad-input'].map(integration),
    ],
    servers: true,
    packages: true,
  },
  // As the one before, without the suites of all backends.
  queries: {
    files: ['src/sources/queries/', 'src/sources/query-source.ts', 'src/drivers/'],
    tests: ['test/unit/sources/query-source.test.ts', integration('query-source')],
    servers: true,
    packages: true,
  },
  objects: {
    files: ['src/sources/objects/', 'src/sources/object-source.ts', 'src/bounded-stream.ts'],
    tests: [integration('object-source')],
    servers: true,
    packages: true,
  },
  sources: { files: ['src/sources/'], tests: ['test/unit/sources/'] },
  // By an evaluator of pipelines: no server is to be had where this runs.
  mongodb: {
    files: ['src/backends/mongodb/'],
    tests: [integration('mongodb-by-mingo')],
    packages: true,
  },
  // Each test file starts the servers of its backend.
  gateways: {
    files: ['src/backends/etcd/', 'src/backends/dynamodb/'],
    tests: ['etcd', 'dynamodb'].map(integration),
    servers: true,
    packages: true,
  },
  lock: {
    files: ['src/records/lock/', 'src/records/store/', 'src/backends/files/'],
    tests: [
      'test/unit/lock/',
      'test/unit/store/',
      'test/unit/cas/',
      'test/unit/files/',
      'test/unit/cluster/',
      'test/contract/rules/',
    ],
    setsProcess: true,
  },
  records: {
    files: ['src/records/', 'src/backends/cas/'],
    tests: ['test/unit/records/', 'test/unit/cas/', 'test/property/records.test.ts'],
  },
  guard: {
    files: ['src/guard/', 'src/guards/', 'src/schema.ts'],
    tests: ['test/unit/guard/', 'test/unit/guards/', 'test/contract/rules/rule-23-refused-values.test.ts'],
  },
  openfeature: { files: ['src/openfeature/'], tests: ['test/unit/openfeature/'] },
  worker: { files: ['src/worker/'], tests: ['test/unit/worker/'] },
  jwks: { files: ['src/jwks/'], tests: ['test/unit/jwks/'] },
  testing: { files: ['src/testing/'], tests: ['test/unit/testing/'] },
};

/** No mutant can be switched on in what runs in a thread; the entry has no logic. */
const NOT_MUTATED = ['src/worker/thread/', 'src/worker/thread-code.ts', 'src/index.ts'];

/** The part that a file of src belongs to. `undefined`: it is not mutated. */
export function partOf(/** @type {string} */ file) {
  const isIn = (/** @type {readonly string[]} */ places) =>
    places.some((place) => (place.endsWith('/') ? file.startsWith(place) : file === place));
  return isIn(NOT_MUTATED) ? undefined : Object.keys(parts).find((name) => isIn(parts[name]?.files ?? []));
}

/** They start processes or measure times: a busy machine would kill mutants. */
export const leftOutFiles = [
  'test/unit/cluster/exit.test.ts',
  'test/unit/worker/exit.test.ts',
  'test/unit/group/group-costs.test.ts',
  'test/unit/lock/file-crashes.test.ts',
];

/** Tests that are left out by their names, `suite > test`: most measure times. */
export const leftOut = [
  /^SQLite with node:sqlite, /, // in another process, where no mutant can be switched on
  /cost a hundred times as much as 1,000/,
  /takes time in proportion to the length/,
  /costs the same with 100 and with 100,000 keys/,
  /100,000 fall due in one period/,
  /look-ups of nonsense keys/,
];
