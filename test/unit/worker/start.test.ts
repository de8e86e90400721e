import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import type { Handshake, Request } from '../../../src/worker/protocol.ts';
import { threadCode } from '../../../src/worker/thread-code.ts';

it.each([
  [[]],
  [['--input-type=module']],
  [['--input-type=commonjs']],
  [['--conditions=development', '--enable-source-maps']],
])('the program of a thread starts with the options of Node %j', async (execArgv) => {
  const worker = new Worker(threadCode, { eval: true, execArgv });
  onTestFinished(() => worker.terminate().then(() => undefined));
  const { port1, port2 } = new MessageChannel();
  const handshake: Handshake = { port: port2 };
  worker.postMessage(handshake, [port2]);
  const module = new URL('./fixtures/load.mjs', import.meta.url).href;
  const request: Request = { kind: 'load', module, args: [{}], transfer: false };
  port1.postMessage(request);
  const [answer] = await Promise.race([once(port1, 'message'), once(worker, 'error')]);
  expect(answer).toMatchObject({ kind: 'fill', values: [{ value: 'load.mjs' }] });
});
