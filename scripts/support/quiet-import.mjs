// Imports an entry of the package, and exits with 1 where that exports nothing, or has an effect: a global, a changed built-in, a
// listener of the process, a timer or handle, an environment variable, output.
//
//   node quiet-import.mjs tickless/redis
//   node quiet-import.mjs tickless/openfeature @openfeature/server-sdk    beside the effects of these packages

/** Loaded by Node when they are first touched. */
const LATE_GLOBALS = ['fetch', 'Request', 'Response', 'WebSocket', 'crypto', 'navigator', 'AbortSignal'];
for (const name of LATE_GLOBALS) Reflect.get(globalThis, name);

const descriptors = (object) =>
  Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key)]);

/** The built-ins, their prototypes, and what the process holds. */
function stateOf() {
  const builtIns = descriptors(globalThis).flatMap(([name, { value }]) =>
    typeof value !== 'function'
      ? [[name, value]]
      : [[name, value], ...own(name, value), ...own(name, value.prototype)],
  );
  return {
    builtIns: new Map(builtIns),
    process: [
      ...process.eventNames().map((event) => `${String(event)} ${process.listenerCount(event)}`),
      ...process.getActiveResourcesInfo().filter((kind) => !/TTY|Pipe|FSReq|CloseReq/.test(kind)),
      ...Object.entries(process.env).map(([name, value]) => `${name}=${value}`),
    ].sort(),
  };
}

function own(name, object) {
  if (object === null || object === undefined) return [];
  return descriptors(object).flatMap(([key, { value, get, set }]) => [
    [`${name} ${String(key)}`, value ?? get],
    [`${name} set ${String(key)}`, set],
  ]);
}

const [entry, ...packages] = process.argv.slice(2);
for (const name of packages) await import(name);
const before = stateOf();
const written = [];
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream);
  stream.write = (text, ...rest) => {
    written.push(String(text));
    return write(text, ...rest);
  };
}
const exported = await import(entry);
const after = stateOf();

const names = new Set([...before.builtIns.keys(), ...after.builtIns.keys()]);
const changes = [...names].filter((name) => !Object.is(before.builtIns.get(name), after.builtIns.get(name)));
const found = [
  ...(Object.keys(exported).length === 0 ? ['it exports nothing'] : []),
  ...changes.map((name) => `it changes ${name}`),
  ...after.process.filter((one) => !before.process.includes(one)).map((one) => `it leaves ${one}`),
  ...written.map((text) => `it prints ${text}`),
];
for (const effect of found) console.error(`import '${entry}': ${effect}`);
process.exitCode = found.length > 0 ? 1 : 0;
