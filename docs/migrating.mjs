// node docs/migrating.mjs <file or folder>…: rewrites code written for checkouts before 2026-11-29 to the names of today.
// It leaves as it is whatever isn't certain, and the compiler names that: see the table of migrating.md. Look at its changes
// before you commit them.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each with its replacement, in this order. */
const RULES = [
  // Changes reach all instances.
  [/\(\{ everywhere: true \}\)/g, '()'],
  [/, \{ everywhere: true \}/g, ''],
  [/\beverywhere: true, /g, ''],
  [/, everywhere: true \}/g, ' }'],
  [/ -{2}everywhere\b/g, ''],
  // A lock and a store with the same options are one backend.
  [/^([ *]*import \{.*)\b(\w+)Lock, \2Store\b/gm, '$1$2Backend'],
  [/\block: (\w+)Lock\(([^()]*)\),(\s*)store: \1Store\(\2\)/g, 'backend: $1Backend($2)'],
  // One word for the age.
  [/(\.(?:get|read|getMany|getIfPresent)\([^()]*\{[^{}()]*)\bmaxAge(?=:)/g, '$1maxStaleness'],
  [/\bwhenClosed: 'serve', /g, ''],
  [/, whenClosed: 'serve'(?= \})/g, ''],
  [/\b(tickless[_.]value_max)_age(?=_seconds\b|\b)/g, '$1_staleness'],
  [/\bschedule: never(?:\(\))?(?=[,\s}])/g, 'schedule: Infinity'],
  // Options with another name.
  [/\bwhenLockUnavailable\b/g, 'whenBackendDown'],
  [/\bmaxConcurrentLoads\b/g, 'concurrency'],
  [/\bcreateHints\b/g, 'createSignals'],
  [/\bHintBus\b/g, 'SignalBus'],
  [/\bRefreshingValueOptions\b/g, 'ValueOptions'],
  [/\bRefreshingCacheOptions\b/g, 'CacheOptions'],
  [/\bPeriodicExecutorOptions\b/g, 'TaskOptions'],
  [/\bRefreshGroupOptions\b/g, 'GroupOptions'],
  // Errors have one class with codes.
  [/\bis([A-Z]\w+Error)\(([^()]*)\)/g, isOfCode],
  [/^([ *]*)import \{([^}]*)\} from 'tickless';$/gm, importsOneGuard],
  // Times of the calendar have an entry of their own.
  [/^([ *]*)import \{([^}]*)\} from 'tickless';$/gm, splitImport],
];

const CALENDAR = new Set(['cron', 'dailyAt', 'duringHours', 'HoursOptions', 'ZoneOptions']);

const ERROR_CODES = {
  OptionError: 'OPTION',
  NotLoadedError: 'NOT_LOADED',
  LoadError: 'LOAD_FAILED',
  DeriveError: 'LOAD_FAILED',
  LoadTimeoutError: 'TIMED_OUT',
  ValueRejectedError: 'REFUSED',
  CoolingDownError: 'COOLING_DOWN',
  StaleValueError: 'TOO_STALE',
  AbsentError: 'ABSENT',
  PinnedError: 'PINNED',
  LockUnavailableError: 'BACKEND_DOWN',
  StoreUnavailableError: 'BACKEND_DOWN',
  LeaseLostError: 'LEASE_LOST',
  ClosedError: 'CLOSED',
};

const CODE = /\.([cm]?[jt]sx?|md)$/;

for (const path of process.argv.slice(2).flatMap(filesOf)) {
  const before = readFileSync(path, 'utf8');
  const after = RULES.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), before);
  if (after === before) continue;
  writeFileSync(path, after);
  console.log(path);
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => name !== 'node_modules');
  return names.flatMap((name) => filesOf(join(path, name))).filter((file) => CODE.test(file));
}

function isOfCode(call, error, argument) {
  return error in ERROR_CODES ? `isTicklessError(${argument}, '${ERROR_CODES[error]}')` : call;
}

function importsOneGuard(line, indent, list) {
  const names = list.split(',').map((name) => name.trim());
  const renamed = names.map((name) =>
    name.slice(2) in ERROR_CODES && name.startsWith('is') ? 'isTicklessError' : name,
  );
  if (renamed.every((name, i) => name === names[i])) return line;
  return `${indent}import { ${[...new Set(renamed)].filter(Boolean).join(', ')} } from 'tickless';`;
}

function splitImport(line, indent, list) {
  const names = list
    .split(',')
    .map((name) => name.replace(/^[\s*]+|\s+$/g, ''))
    .filter(Boolean);
  const isOfCalendar = (name) => CALENDAR.has(name.replace(/^type /, '').split(' as ')[0]);
  if (!names.some(isOfCalendar)) return line;
  const rest = names.filter((name) => !isOfCalendar(name));
  const moved = names.filter(isOfCalendar);
  return [
    [rest, 'tickless'],
    [moved, 'tickless/calendar'],
  ]
    .filter(([of]) => of.length > 0)
    .map(([of, from]) => `${indent}import { ${of.join(', ')} } from '${from}';`)
    .join('\n');
}
