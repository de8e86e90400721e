// The program of the thread. scripts/thread-code.mjs bundles it into a string, src/worker/thread-code.ts.

import type { MessagePort } from 'node:worker_threads';
import type { Chunk } from '../../chunks/chunk.ts';
import { chunks } from '../../chunks/chunks.ts';
import { buffersIn } from '../../chunks/walk.ts';
import { decodeError, encodeError } from '../error-codec.ts';
import type { FailedStep, FromThread, Handshake, Request, ToThread } from '../protocol.ts';
import { encodeResult } from '../result-codec.ts';
import { findLoad } from './find-load.ts';
import { flushOutput } from './flush-output.ts';

// Neither `import` nor `require`: the string may be evaluated as either kind of module.
const { parentPort } = process.getBuiltinModule('node:worker_threads');
const controller = new AbortController();
let requestPart = (): void => {};
let partRequested: Promise<unknown> = Promise.resolve();

/** Bound before user code is loaded, which could replace the method and so get hold of the port. */
let postMessage: MessagePort['postMessage'];

parentPort?.once('message', ({ port }: Handshake) => {
  postMessage = port.postMessage.bind(port);
  port.on('message', receive);
});

function receive(message: ToThread): void {
  switch (message.kind) {
    case 'load':
      void serve(message);
      break;
    case 'next':
      requestPart();
      break;
    case 'abort':
      controller.abort(decodeError(message.reason));
  }
}

async function serve({ module, args, transfer }: Request): Promise<void> {
  let step: FailedStep = 'module';
  try {
    const load = await findLoad(module);
    step = 'load';
    const context = { ...(args.at(-1) as object), signal: controller.signal };
    const result = await load(...args.slice(0, -1), context);
    await flushOutput();
    step = 'clone';
    for (const chunk of chunks(encodeResult(result))) await send(chunk, transfer);
    post({ kind: 'end' });
  } catch (error) {
    await flushOutput();
    post({ kind: 'failed', step, error: encodeError(error) });
  }
}

/** Sends one chunk as soon as the receiver requests it. */
async function send(chunk: Chunk, transfer: boolean): Promise<void> {
  await partRequested;
  partRequested = new Promise<void>((resolve) => {
    requestPart = resolve;
  });
  const buffers = transfer ? buffersIn(chunk) : [];
  try {
    post(chunk, buffers);
  } catch (error) {
    if (buffers.length === 0) throw error;
    post(chunk); // one of the buffers cannot be transferred: memory of WebAssembly, the pool of small Buffers
  }
}

function post(message: FromThread, transferred: readonly ArrayBuffer[] = []): void {
  postMessage(message, transferred);
}
