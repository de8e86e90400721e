// Hono: JSON from memory with correct headers Age and Cache-Status, and `waitUntil` where the platform has one, so that it does not
// freeze a reload that continues after the response.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { ageHeaders, RefreshingValue } from 'tickless';

let revision = 0;
const flags = new RefreshingValue({
  name: 'feature-flags',
  load: async () => ({ revision: ++revision, newCheckout: true }),
  schedule: { seconds: 30 },
});

/** `executionCtx` of Cloudflare Workers; Hono's getter throws on other platforms, such as Node. */
function waitUntilOf(context: Context): ((promise: Promise<unknown>) => void) | undefined {
  try {
    const { executionCtx } = context;
    return (promise) => executionCtx.waitUntil(promise);
  } catch {
    return undefined;
  }
}

const app = new Hono();
app.get('/flags', async (context) => {
  const value = await flags.get({ waitUntil: waitUntilOf(context) });
  return context.json(value, 200, { ...ageHeaders(flags.inspect()) });
});

const server = serve({ fetch: app.fetch, port: 0 });
await once(server, 'listening');
const url = `http://localhost:${(server.address() as AddressInfo).port}/flags`;

async function read(): Promise<string> {
  const response = await fetch(url);
  const { headers } = response;
  return `Age: ${headers.get('age')}, ${headers.get('cache-status')}, ${await response.text()}`;
}
console.log(await read());

flags.invalidate(); // somebody changed a flag
console.log(await read()); // answered at once with what is there, the reload starts behind it

await flags.requestStart({ wait: true });
console.log(await read());
server.close();
