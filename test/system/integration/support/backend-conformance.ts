import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { BackendOptions } from '../../../../src/records/backend-options.ts';
import type { Backend, Connected } from './backends.ts';
import { conformance, UNIT_MS } from './conformance.ts';

/** Where an acquire takes two commands: the second must be answered before the shortest lease is over. */
const UNIT_OF_TWO_MS = 1000;

/** A port that can't be listened on by accident: nobody does. */
export const NOBODY = '127.0.0.1:1';

/**
 * All suites on a server, as tests.
 *
 * @param url called when the tests begin.
 */
export function backendConformance({ connect, acquireCommands = 1 }: Backend, url: () => string): void {
  const space = `conformance_${randomUUID().slice(0, 8)}`;
  let clients: Connected[] = [];
  beforeAll(async () => {
    const urls = [url(), url(), url().replaceAll(/(?<=[/@,])[^/@,]+:\d+/g, NOBODY)];
    clients = await Promise.all(urls.map(connect));
  });
  afterAll(() => {
    for (const client of clients) client.destroy();
  });

  const client = (i: number): Connected => clients[i] as Connected;
  const open = (i: number) => (options: BackendOptions) => ({
    lock: client(i).lock(space, options),
    store: client(i).store(space, options),
  });
  conformance({
    unit: acquireCommands > 1 ? UNIT_OF_TWO_MS : UNIT_MS,
    one: open(0),
    another: open(1),
    none: open(2),
    edits: {
      forget: (name) => client(0).forget(space, name),
      damage: (name, field) => client(0).damage(space, name, field),
      postdate: (name, ms) => client(0).postdate(space, name, ms),
    },
  });
}
