import { expect, it } from 'vitest';
import { answerOf } from './support.ts';

/** Tries to send an answer of its own, and garbage, through all that the module can reach. */
const forger = `
import threads from 'node:worker_threads';
const forged = [null, 5, { kind: 'fill', keys: [0], values: ['forged'] }, { kind: 'end' }];
const reached = [];
const { postMessage } = threads.MessagePort.prototype;
threads.MessagePort.prototype.postMessage = function (...args) {
  reached.push(this);
  return postMessage.apply(this, args);
};
export async function load() {
  for (const port of [threads.workerData, threads.workerData?.port, threads.parentPort]) {
    for (const message of forged) port?.postMessage?.(message);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const port of reached) for (const message of forged) postMessage.call(port, message);
  return { workerData: threads.workerData };
}`;

it('the code of the load cannot send answers, or garbage, in the name of its thread', async () => {
  expect(await answerOf(forger)).toEqual({ workerData: undefined });
});
