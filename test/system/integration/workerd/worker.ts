// A Worker as an application has it, for durable-object.test.ts: members that are made at import, whose lock and store are in
// the object.

import { env, waitUntil } from 'cloudflare:workers';
import { durableObjectBackend, type ObjectNamespace } from '../../../../src/backends/durable-object.ts';
import { PeriodicExecutor, RefreshingValue } from '../../../../src/index.ts';

export {
  BrokenObject,
  EditableObject,
  KeyValueObject,
  LossyObject,
  OtherObject,
  SilentObject,
} from './objects.ts';

const binding = env.TICKLESS as ObjectNamespace;
/** In the process of the test. */
const source = env.SOURCE as unknown as {
  fetch(url: string, init: { signal: AbortSignal }): Promise<Response>;
};

const cluster = {
  backend: durableObjectBackend({ binding, leaseFor: { seconds: 2 } }),
  retry: false,
  logger: false,
} as const;
const { backend, retry, logger } = cluster;

let loads = 0;
let sets = 0;
async function load({ signal }: { signal: AbortSignal }): Promise<string> {
  loads += 1;
  return (await source.fetch('http://source/', { signal })).text();
}

/** Reads of it pass the end of a load on by themselves. */
const edition = new RefreshingValue({
  name: 'edition',
  load,
  schedule: { seconds: 5 },
  propagateWithin: { days: 1000 }, // what it asks is of its rounds
  ...cluster,
});
/** Goes on behind all responses. */
const followed = new RefreshingValue({
  name: 'followed',
  load: () => 'the first',
  schedule: { hours: 1 },
  propagateWithin: 50,
  ...cluster,
  backend: durableObjectBackend({ binding, leaseFor: { seconds: 2 } }), // its checks are its own
  waitUntil,
});
const task = new PeriodicExecutor(run, {
  name: 'task',
  schedule: { hours: 1 },
  lock: backend,
  retry,
  logger,
  waitUntil,
});
async function run(context: { signal: AbortSignal }): Promise<void> {
  await load(context);
}

interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/** By the path of a request. */
const actions: Readonly<Record<string, (context: Context) => unknown>> = {
  '/read': (context) => edition.get({ waitUntil: (promise) => context.waitUntil(promise) }),
  // Its load ends with the request.
  '/die': async () => {
    void edition.get().catch(() => {});
    while (loads === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 100)); // the source has the request
  },
  '/state': () => ({ loads, edition: edition.peek() ?? null, isRunning: edition.inspect().running }),
  '/follow': () => followed.get(),
  '/set-everywhere': () => followed.set(['the second', 'the third'][sets++] ?? ''),
  '/start-task': () => task.requestStart({ wait: false }),
};

export default {
  async fetch(request: Request, _env: unknown, context: Context): Promise<Response> {
    const action = actions[new URL(request.url).pathname];
    return Response.json((await action?.(context)) ?? null);
  },
};
