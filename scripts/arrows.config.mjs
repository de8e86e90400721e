// The direction of imports in src (docs/ARCHITECTURE.md), for dependency-cruiser. Type imports count like any other. SWC reads
// the sources: dependency-cruiser knows no compiler of TypeScript 7.
//
//   npx depcruise --config scripts/arrows.config.mjs src

const BASE = [
  'printable.ts',
  'whole-words.ts',
  'json.ts',
  'bounded-json.ts',
  'errors.ts',
  'time',
  'option-checks.ts',
  'option-error.ts',
  'schema.ts',
  'plain-object.ts',
];
const ENGINE = [...BASE, 'data', 'observe', 'schedule', 'engine'];
const CORE = [...ENGINE, 'due', 'guard', 'options', 'value', 'cache', 'group'];

/** Decisions about loads, without effects, which a source that tries several has in common with the engine. */
const PURE_OF_LOADS = [
  'data/id-of.ts',
  'data/value-meta.ts',
  'data/backup.ts',
  'observe/logger.ts',
  'engine/cool-down.ts',
  'engine/load-result.ts',
  'engine/previous-value.ts',
  'engine/retry-after.ts',
  'engine/retry-within.ts',
  'guard/verdict.ts',
  'options/failure-options.ts',
];

/** What each room may import beside itself. Each names only rooms above it in this table or their equals, so that rooms have no cycle. */
const MAY_IMPORT = {
  'printable.ts': [],
  'whole-words.ts': [],
  'json.ts': [],
  'bounded-json.ts': [],
  'errors.ts': ['printable.ts', 'json.ts'],
  time: ['errors.ts', 'plain-object.ts', 'printable.ts'],
  'name-hints.ts': [],
  'option-checks.ts': ['option-error.ts', 'name-hints.ts', 'time'],
  'option-error.ts': ['errors.ts', 'printable.ts'],
  'schema.ts': ['printable.ts'],
  'plain-object.ts': [],
  'bounded-stream.ts': ['time'],
  data: BASE,
  observe: [...BASE, 'data'],
  schedule: [...BASE, 'name-hints.ts'],
  calendar: [...BASE, 'schedule'],
  engine: ENGINE,
  due: ENGINE,
  guard: ENGINE,
  options: [...ENGINE, 'due', 'guard'],
  value: [...ENGINE, 'guard', 'options'],
  cache: [...ENGINE, 'due', 'guard', 'options', 'value'],
  derive: [...ENGINE, 'options', 'value'],
  callable: [...ENGINE, 'options', 'value', 'cache'],
  decorators: [...BASE, 'callable', 'cluster'],
  group: CORE,
  guards: [...BASE, 'data', 'guard'],
  chunks: [],
  cluster: ENGINE,
  // What clients of databases have in common for all that use them.
  drivers: [...BASE, 'observe'],
  signals: [...BASE, 'observe', 'cluster'],
  // The port, and the lock and the store that are written once over it.
  records: [...BASE, 'data', 'chunks', 'cluster'],
  // One file a backend: what its entry exports, over a folder of its own.
  backends: [
    ...BASE,
    'schedule/http-date.ts',
    'engine/backend.ts',
    'chunks',
    'cluster',
    'drivers',
    'signals',
    'records',
  ],
  testing: [...BASE, 'data', 'engine/backend.ts', 'engine/coordinator.ts', 'cluster', 'records'],
  worker: [...BASE, 'schedule', 'data', 'engine', 'chunks'],
  diagnostics: [...BASE, 'observe', 'value'],
  metrics: [...BASE, 'data', 'observe', 'value', 'cache', 'group'],
  prometheus: ['metrics'],
  otel: [...BASE, 'observe', 'value', 'metrics'],
  'index.ts': [...CORE, 'callable', 'derive', 'cluster'],
  // The console knows members as any user does. `cluster` is for the name of this host, `data` for those of others.
  sources: [...BASE, 'bounded-stream.ts', 'schedule', 'drivers', ...PURE_OF_LOADS, 'index.ts'],
  jwks: [...BASE, 'index.ts', 'options', 'value', 'sources'],
  openfeature: [...BASE, 'data', 'observe', 'index.ts'],
  fastify: [...BASE, 'index.ts'],
  nestjs: [...BASE, 'observe', 'index.ts', 'decorators'],
  console: [
    ...BASE,
    'bounded-stream.ts',
    'observe/events.ts',
    'engine/backend.ts',
    'index.ts',
    'cluster',
    'data',
  ],
  cli: ['printable.ts', 'bounded-json.ts', 'bounded-stream.ts', 'time', 'data', 'console'],
};

/** Packages, and the one file that may import each: in that room. */
const PACKAGES = {
  '@lukeed/ms': 'time',
  'p-retry': 'engine',
  'lru-cache': 'cache',
  luxon: 'calendar',
  croner: 'calendar',
  devalue: 'records',
  'fast-equals': 'data',
  '@noble/hashes': 'cluster',
  'prom-client': 'prometheus',
  'csv-parse': 'sources',
  '@openfeature/server-sdk': 'openfeature',
  fastify: 'fastify',
  '@opentelemetry/api': 'otel',
};

/** NestJS is a peer that only its own example and tests install: these imports lead nowhere here. */
const NESTJS = '^@nestjs/(common|core)$';

/** Programs that are bundled with packages of their own: the command. */
const BUNDLED = '^src/cli/';

/** The core runs unchanged on Node, Deno, Bun and workerd. */
const NODE_MODULES_IN = '^src/(backends/files/|worker/|diagnostics/|fastify/|console/node[.]ts|cli/)';

const ADAPTERS = 'memory|file|redis|postgres|mysql|sqlite|mongodb|etcd|dynamodb|durable-object';

/** The files of a room, as an expression: those of its folder, or the one file. */
const files = (room) => (room.endsWith('.ts') ? `^src/${room.replace('.', '[.]')}$` : `^src/${room}/`);

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

export default {
  forbidden: [
    rule('no-cycle', 'No cycle between files, type imports counted.', {}, { circular: true }),
    { ...rule('no-cycle-of-rooms', 'Nor between rooms.', {}, { circular: true }), scope: 'folder' },
    ...Object.entries(MAY_IMPORT).map(([room, rooms]) =>
      rule(
        `arrows-of-${room.replace('.ts', '')}`,
        `${room} may import ${rooms.join(', ') || 'nothing'}.`,
        { path: files(room) },
        { path: '^src/', pathNot: [room, ...rooms].map(files) },
      ),
    ),
    rule(
      'room-without-arrows',
      'Each room of src stands in MAY_IMPORT.',
      { path: '^src/', pathNot: Object.keys(MAY_IMPORT).map(files) },
      {},
    ),
    rule(
      'adapters-apart',
      'Backends never import each other, and nothing imports them.',
      { path: '^src/' },
      { path: `^src/backends/(${ADAPTERS})[.]ts$` },
    ),
    rule(
      'folders-of-backends-apart',
      'The folder of a backend imports that of no other; `cas` is for all that only compare and swap.',
      { path: '^src/backends/([^/]+)/' },
      { path: '^src/backends/[^/]+/', pathNot: '^src/backends/($1|cas)/' },
    ),
    ...Object.entries(PACKAGES).flatMap(([name, room]) => [
      rule(
        `${name}-in-its-room`,
        `${name} is imported in ${room} only.`,
        { path: '^src/', pathNot: files(room) },
        { path: `^node_modules/${name}/` },
      ),
      {
        name: `${name}-in-one-file`,
        comment: `${name} is imported in one file only.`,
        severity: 'error',
        from: {},
        module: { path: `^node_modules/${name}/`, numberOfDependentsMoreThan: 1 },
      },
    ]),
    rule(
      'nestjs-in-its-room',
      'NestJS is imported in nestjs only.',
      { path: '^src/', pathNot: files('nestjs') },
      { path: '^@nestjs/' },
    ),
    rule(
      'four-packages',
      'Users have no other package.',
      { path: '^src/', pathNot: BUNDLED },
      {
        pathNot: ['^src/', NESTJS, `^node_modules/(${Object.keys(PACKAGES).join('|')})/`],
        dependencyTypesNot: ['core'],
      },
    ),
    rule(
      'node-modules-at-the-edge',
      'The core runs on every runtime.',
      { path: '^src/', pathNot: NODE_MODULES_IN },
      { dependencyTypes: ['core'] },
    ),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // Its parser reads no JSX. The page is a program of its own, which nothing imports.
    exclude: { path: '^src/console/page/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] },
  },
};
