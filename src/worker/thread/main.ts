// What runs in the thread. It is put into one text, src/worker/thread-code.ts, by scripts/thread-code.mjs.

import type { MessagePort } from 'node:worker_threads';
import { carried } from '../carried.ts';
import type { FailedStep, FromThread, Part, Request, ToThread } from '../protocol.ts';
import { flattened, revived } from '../thrown.ts';
import { findLoad } from './find-load.ts';
import { parts } from './parts.ts';
import { printed } from './printed.ts';
import { buffersIn } from './walk.ts';

// Neither `import` nor `require`: the text may be evaluated as either kind of module.
const { workerData } = process.getBuiltinModule('node:worker_threads');
const port = workerData as MessagePort;
const controller = new AbortController();
let goOn = (): void => {};
let isWanted: Promise<unknown> = Promise.resolve();

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'load':
      void serve(message);
      break;
    case 'next':
      goOn();
      break;
    case 'abort':
      controller.abort(revived(message.reason));
  }
});

async function serve({ module, args, transfer }: Request): Promise<void> {
  let step: FailedStep = 'module';
  try {
    const load = await findLoad(module);
    step = 'load';
    const context = { ...(args.at(-1) as object), signal: controller.signal };
    const answer = await load(...args.slice(0, -1), context);
    await printed();
    step = 'clone';
    for (const part of parts(carried(answer))) await send(part, transfer);
    tell({ kind: 'end' });
  } catch (error) {
    await printed();
    tell({ kind: 'failed', step, thrown: flattened(error) });
  }
}

/** Sends one part, when it is wanted. */
async function send(part: Part, transfer: boolean): Promise<void> {
  await isWanted;
  isWanted = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const buffers = transfer ? buffersIn(part) : [];
  try {
    tell(part, buffers);
  } catch (error) {
    if (buffers.length === 0) throw error;
    tell(part); // one of them can't be handed over: memory of WebAssembly, the pool of small Buffers
  }
}

function tell(message: FromThread, transferred: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}
