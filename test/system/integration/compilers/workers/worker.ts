/// <reference types="@cloudflare/workers-types" />
// A Worker, with the types of Cloudflare in the place of those of Node and of the DOM. Compiled as drivers.ts; never run.

import { env, waitUntil } from 'cloudflare:workers';
import { RefreshGroup } from 'tickless';
import { durableObjectBackend, type ObjectState, TicklessObject } from 'tickless/durable-object';

declare global {
  namespace Cloudflare {
    interface Env {
      readonly TICKLESS: DurableObjectNamespace;
    }
  }
}

/** As an application may extend it. */
export class Counted extends TicklessObject {
  requests = 0;

  constructor(state: DurableObjectState) {
    super(state);
  }

  override fetch(request: Request): Promise<Response> {
    this.requests += 1;
    return super.fetch(request);
  }
}

declare const state: DurableObjectState;
export const used: ObjectState = state;

const binding = env.TICKLESS;
const group = new RefreshGroup({
  backend: durableObjectBackend({ binding }),
  waitUntil,
});
const rates = group.value({ name: 'rates', load: async () => ({ USD: 1.08 }) });

export default {
  async fetch(_request: Request, env: Cloudflare.Env, context: ExecutionContext): Promise<Response> {
    durableObjectBackend({ binding: env.TICKLESS, object: 'others' });
    return Response.json(await rates.get({ waitUntil: (promise) => context.waitUntil(promise) }));
  },
} satisfies ExportedHandler<Cloudflare.Env>;

// As `wrangler types` writes it, in a file whose errors are skipped: the class has no brand of Cloudflare.
// @ts-expect-error
declare const generated: DurableObjectNamespace<TicklessObject>;
durableObjectBackend({ binding: generated });
