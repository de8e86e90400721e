// Hono: JSON from memory with a correct Age header, and `waitUntil` where the platform has one, so that it does not
// freeze a reload that continues after the response.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { RefreshingValue } from 'tickless';

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
  const { age = 0, state } = flags.inspect();
  context.header('Age', String(Math.floor(age / 1000)));
  context.header('X-State', state);
  return context.json(value);
});

const server = serve({ fetch: app.fetch, port: 0 });
await once(server, 'listening');
const url = `http://localhost:${(server.address() as AddressInfo).port}/flags`;

async function read(): Promise<string> {
  const response = await fetch(url);
  const { headers } = response;
  return `Age: ${headers.get('age')}, ${headers.get('x-state')}, ${await response.text()}`;
}
console.log(await read());

flags.invalidate(); // somebody changed a flag
console.log(await read()); // answered at once with what is there, the reload starts behind it

await flags.requestStart({ wait: true });
console.log(await read());
server.close();
