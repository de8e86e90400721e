import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { Miniflare } from 'miniflare';
import type { ObjectNamespace } from '../../../../src/backends/durable-object/object-namespace.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** One module, without the packages of workerd. */
async function bundle(options: Pick<BuildOptions, 'entryPoints' | 'stdin' | 'alias'>): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    ...{ bundle: true, write: false, format: 'esm', target: 'es2022', external: ['cloudflare:workers'] },
  });
  return outputFiles[0]?.text ?? '';
}

/** The classes of the Worker (`workerd/worker.ts`), by their bindings. */
const CLASSES = {
  TICKLESS: { className: 'EditableObject', useSQLite: true },
  SILENT: { className: 'SilentObject', useSQLite: true },
  BROKEN: { className: 'BrokenObject', useSQLite: true },
  OTHER: { className: 'OtherObject', useSQLite: true },
  LOSSY: { className: 'LossyObject', useSQLite: true },
  KEY_VALUE: { className: 'KeyValueObject' },
} as const;

/** A workerd with two Workers, `one` and `two`, that share the objects. */
export interface Workerd {
  readonly miniflare: Miniflare;
  objects(binding: keyof typeof CLASSES): Promise<ObjectNamespace>;
  /** Sends a request to a Worker. @returns its answer. */
  send(worker: 'one' | 'two', path: string): Promise<unknown>;
}

/**
 * Starts workerd with the sources of tickless in it.
 *
 * @param source answers the requests of loads.
 * @param folder of the records. @default in memory
 */
export async function startWorkerd(
  source: () => string | Promise<string> = () => '',
  folder?: string,
): Promise<Workerd> {
  const contents = await bundle({
    entryPoints: [fileURLToPath(new URL('../workerd/worker.ts', import.meta.url))],
  });
  const worker = {
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents } as const],
    compatibilityDate: '2026-04-01',
    serviceBindings: { SOURCE: async () => new Response(await source()) },
  };
  const shared = Object.entries(CLASSES).map(([name, object]) => [name, { ...object, scriptName: 'one' }]);
  const miniflare = new Miniflare({
    ...(folder !== undefined && { durableObjectsPersist: folder }),
    workers: [
      { ...worker, name: 'one', durableObjects: CLASSES },
      { ...worker, name: 'two', durableObjects: Object.fromEntries(shared) },
    ],
  });
  await miniflare.ready;
  const namespaces = new Map<string, Promise<ObjectNamespace>>();
  const namespaceOf = async (binding: string): Promise<ObjectNamespace> =>
    askedOnce((await miniflare.getDurableObjectNamespace(binding, 'one')) as ObjectNamespace);
  return {
    miniflare,
    objects: (binding) => {
      const namespace = namespaces.get(binding) ?? namespaceOf(binding);
      namespaces.set(binding, namespace);
      return namespace;
    },
    send: async (name, path) =>
      (await (await miniflare.getWorker(name)).fetch(`http://worker${path}`)).json(),
  };
}

/**
 * Asks Miniflare for each object once: it blocks the process for the answer, and once it has missed one, all later
 * ones fail with `false == true`.
 */
function askedOnce(namespace: ObjectNamespace): ObjectNamespace {
  const stubs = new Map<string, ReturnType<ObjectNamespace['get']>>();
  return {
    idFromName: (name) => ({ name }),
    get: (id) => {
      const { name } = id as { readonly name: string };
      const stub = stubs.get(name) ?? namespace.get(namespace.idFromName(name));
      stubs.set(name, stub);
      return stub;
    },
  };
}

/** What is used of a configuration of Wrangler. */
interface Configuration {
  readonly compatibility_date: string;
  readonly durable_objects: {
    readonly bindings: readonly { readonly name: string; readonly class_name: string }[];
  };
  readonly migrations: readonly { readonly new_sqlite_classes: readonly string[] }[];
}

/**
 * Starts the Worker of docs/serverless.md, as its configuration says.
 *
 * @param source answers all requests that it sends.
 */
export async function startExample(source: () => unknown): Promise<Miniflare> {
  const page = await readFile(`${root}docs/serverless.md`, 'utf8');
  const [, jsonc = ''] = /```jsonc\n\/\/ wrangler.jsonc\n(.*?)```/s.exec(page) ?? [];
  const [, code = ''] = /```ts no-run\n(\/\/ src\/index.ts\n.*?)```/s.exec(page) ?? [];
  const { compatibility_date, durable_objects, migrations } = JSON.parse(jsonc) as Configuration;
  const durableObjects = durable_objects.bindings.map(({ name, class_name: className }) => [
    name,
    {
      className,
      useSQLite: migrations.some(({ new_sqlite_classes }) => new_sqlite_classes.includes(className)),
    },
  ]);
  const contents = await bundle({
    stdin: { contents: code, loader: 'ts', resolveDir: root },
    alias: {
      tickless: `${root}src/index.ts`,
      'tickless/durable-object': `${root}src/backends/durable-object.ts`,
    },
  });
  const example = new Miniflare({
    modules: [{ type: 'ESModule', path: 'index.mjs', contents }],
    compatibilityDate: compatibility_date,
    durableObjects: Object.fromEntries(durableObjects),
    outboundService: async () => Response.json(await source()),
  });
  await example.ready;
  return example;
}
