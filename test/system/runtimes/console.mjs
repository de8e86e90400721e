// A worker with the console as its user writes it: group and console are made once, outside of requests.

import { RefreshGroup } from 'tickless';
import { consoleHandler } from 'tickless/console';
import { memoryBackend } from 'tickless/memory';

const backend = memoryBackend();
const group = new RefreshGroup({ logger: false, propagateWithin: '5s', backend });
const rates = group.value({ name: 'rates', load: async () => 'loaded' });
const handler = consoleHandler(group, {
  authorize: (request) => request.headers.get('x-operator') ?? undefined,
  actions: true,
  backend,
});

/** @public called by the worker in check-runtimes.mjs */
export async function answer(request) {
  return new URL(request.url).pathname === '/value' ? new Response(rates.peek()) : handler(request);
}
