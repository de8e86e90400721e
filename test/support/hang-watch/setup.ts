// A test that blocks its process, as a loop of microtasks does, has no timeout: nothing in that process can end it, and Vitest
// waits for ever. A thread beside it does: it names the test, and kills the process. Vitest goes on with the other files.

import { Worker } from 'node:worker_threads';
import { beforeEach, expect } from 'vitest';

/** What the thread looks at: a count that grows with each test and as long as the event loop turns, and the name of the test that runs. */
interface Shared {
  readonly beats: Int32Array;
  readonly name: Uint8Array;
}

declare global {
  /** One for each process, which runs many files. */
  var hangWatch: Shared | undefined;
  /** The fault that is switched on, if the tests are to see one. */
  var planted: string | undefined;
}

const BEAT_MS = 500;
/** Far beyond what a test takes on a busy machine; where a fault is planted, that is what it may do. */
const SECONDS = globalThis.planted === undefined ? 60 : 15;
const LONGEST_NAME = 2000;

function start(): Shared {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const name = new Uint8Array(new SharedArrayBuffer(LONGEST_NAME));
  const thread = new Worker(new URL('thread.mjs', import.meta.url), {
    workerData: {
      beats,
      name,
      seconds: SECONDS,
      verdict: globalThis.planted === undefined ? 'failed' : 'seen',
    },
    execArgv: [],
    env: {},
  });
  thread.unref();
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  return { beats, name };
}

globalThis.hangWatch ??= start();
const { beats, name } = globalThis.hangWatch;

beforeEach(() => {
  Atomics.add(beats, 0, 1); // many tests in a row need no turn of the event loop
  const { testPath, currentTestName } = expect.getState();
  name.fill(0);
  new TextEncoder().encodeInto(`${testPath}: ${currentTestName}`, name);
});
