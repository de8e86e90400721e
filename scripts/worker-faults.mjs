// One way each in which a promise of loads in threads can be missing, and the tests that must see it. `find` must occur
// exactly once in `file`. What runs in the thread is the text of thread-code.ts.

const answers = ['test/unit/worker/answers.test.ts'];
const failures = ['test/unit/worker/failures.test.ts'];
const ends = ['test/unit/worker/ends.test.ts'];
const parts = ['test/unit/worker/parts.test.ts'];
const transfer = ['test/unit/worker/transfer.test.ts'];
const thrown = ['test/unit/worker/thrown.test.ts'];

const thread = 'src/worker/thread.ts';
const inThread = 'src/worker/thread-code.ts';

/** @type {readonly { tests: string[], name: string, file: string, find: string, put: string }[]} */
export const workerFaults = [
  {
    tests: ends,
    name: 'the thread is not ended when it has answered',
    file: thread,
    find: 'this.#outcome ??= outcome;\n    this.#terminate();',
    put: 'this.#outcome ??= outcome;',
  },
  {
    tests: ends,
    name: 'an abort does not end the thread',
    file: thread,
    find: 'this.#grace = setTimeout(() => this.#terminate(), GRACE_MS).unref();',
    put: '',
  },
  {
    tests: ends,
    name: 'an abort right after the call is missed',
    file: 'src/worker/load-in-worker.ts',
    find: 'signal?.throwIfAborted();',
    put: '',
  },
  {
    tests: ends,
    name: 'an abort is not told in the thread',
    file: inThread,
    find: 'controller.abort(revived(message.reason));',
    put: '',
  },
  {
    tests: ends,
    name: 'a load has settled before its thread has ended',
    file: thread,
    find: "this.#outcome = { kind: 'failed', error };\n    this.#post",
    put: "this.#outcome = { kind: 'failed', error };\n    this.#settle(this.#outcome);\n    this.#post",
  },
  {
    tests: ends,
    name: 'a listener is left at the signal',
    file: thread,
    find: "this.#plan.signal?.removeEventListener('abort', this.#abort);",
    put: '',
  },
  {
    tests: ends,
    name: 'as many threads as loads',
    file: 'src/worker/turns.ts',
    find: 'this.#free -= 1;\n      return;',
    put: 'return;',
  },
  {
    tests: ends,
    name: 'who gave up waiting keeps his place',
    file: 'src/worker/turns.ts',
    find: 'this.#waiting.delete(begin);',
    put: '',
  },
  {
    tests: failures,
    name: 'an end without an answer is no failure',
    file: thread,
    find: "this.#outcome ??= { kind: 'failed', error: exited(code) };",
    put: "this.#outcome ??= { kind: 'answered', answer: undefined };",
  },
  {
    tests: failures,
    name: 'too much memory is taken for a crash',
    file: 'src/worker/failures.ts',
    find: "case 'ERR_WORKER_OUT_OF_MEMORY':",
    put: "case 'ERR_MEMORY':",
  },
  {
    tests: thrown,
    name: 'properties of errors are lost',
    file: 'src/worker/thrown.ts',
    find: 'for (const [key, value] of Object.entries(properties)) {',
    put: 'for (const [key, value] of []) {',
  },
  {
    tests: failures,
    name: 'Retry-After in headers is lost',
    file: inThread,
    find: 'retryAfterMs: retryAfterMs(thrown, Date.now())',
    put: 'retryAfterMs: 0',
  },
  {
    tests: answers,
    name: 'the answer is lost with the thread that has just given it',
    file: thread,
    find: "this.#worker.on('exit', (code) => {\n      this.#receiveRest();",
    put: "this.#worker.on('exit', (code) => {",
  },
  {
    tests: answers,
    name: 'the answer is lost with the thread that has crashed since',
    file: thread,
    find: "this.#worker.on('error', (error) => {\n      this.#receiveRest();",
    put: "this.#worker.on('error', (error) => {",
  },
  {
    tests: answers,
    name: 'keep() is taken for a value',
    file: inThread,
    find: 'if (typeof answer !== \\"object\\" || answer === null || !(answerKind in answer)) {',
    put: 'if (answer !== undefined) {',
  },
  {
    tests: answers,
    name: 'the whole previous value is cloned into the thread',
    file: 'src/worker/asked.ts',
    find: 'value: pick?.(value as never)',
    put: 'value: pick?.(value as never) ?? value',
  },
  {
    tests: transfer,
    name: 'buffers are copied',
    file: inThread,
    find: 'transfer ? buffersIn(part) : []',
    put: '[]',
  },
  {
    tests: parts,
    name: 'an object that occurs twice becomes two',
    file: 'src/worker/thread/references.ts',
    find: 'if (this.#shared.size === 0)',
    put: 'if (this.#shared.size >= 0)',
  },
  {
    tests: parts,
    name: 'all comes in one part',
    file: 'src/worker/thread/parts.ts',
    find: 'if (shared === undefined) yield',
    put: 'if (shared !== null) yield',
  },
];
