import { expect, it, vi } from 'vitest';
import { failureOf, threadCount } from './support.ts';

/** A program of the thread that sends what is no message of the protocol. */
vi.mock('../../../src/worker/thread-code.ts', () => ({
  threadCode: `
    const { parentPort } = process.getBuiltinModule('node:worker_threads');
    parentPort.once('message', ({ port }) => {
      port.on('message', ({ module }) => port.postMessage(JSON.parse(decodeURIComponent(module.split(',')[1]))));
    });`,
}));

it.each([
  'null',
  '5',
  '{}',
  '{"kind":"unknown"}',
  '{"kind":"open","container":"heap"}',
  '{"kind":"fill"}',
  '{"kind":"fill","keys":[],"values":[1],"references":{}}',
  '{"kind":"end"}',
  '{"kind":"failed","step":"load"}',
])('a message %s fails the load, and nothing else', async (message) => {
  expect(await failureOf(message)).toMatchObject({ code: 'ERR_TICKLESS_WORKER_PROTOCOL' });
  expect(threadCount()).toBe(0);
});
