import { describe, expect, it } from 'vitest';
import type { LoadInWorkerOptions } from '../../../src/worker/index.ts';
import { answerOf, loadOf, sharedInt } from './support.ts';

/** More than one part, so that the thread can check its buffer after the first one was sent. */
const MANY = 'Array.from({ length: 20_000 }, (_, i) => ({ i }))';

/** The state of the buffer in the thread: 1 it was transferred, 2 it is still there. */
async function fateOf(
  value: string,
  options?: LoadInWorkerOptions,
): Promise<{ fate?: number; answer: unknown }> {
  const flag = sharedInt();
  const code = `export default (flag) => {
    const numbers = Float64Array.from({ length: 50_000 }, (_, i) => i);
    setImmediate(function check() {
      Atomics.store(flag, 0, numbers.buffer.byteLength === 0 ? 1 : 2);
      setImmediate(check);
    });
    return ${value};
  }`;
  const answer = await loadOf(code, options)(flag, new AbortController());
  return { fate: flag[0] as number, answer };
}

const numbers = Float64Array.from({ length: 50_000 }, (_, i) => i);

describe('buffers in the value', () => {
  it('are transferred, not copied', async () => {
    const { fate, answer } = await fateOf(`{ deep: [new Map([['numbers', numbers]])], many: ${MANY} }`);
    expect(fate).toBe(1);
    expect((answer as { deep: Map<string, unknown>[] }).deep[0]?.get('numbers')).toEqual(numbers);
  });

  it('are transferred also in a single part', async () => {
    const { answer } = await fateOf('[numbers, numbers.subarray(5), numbers.buffer]');
    const [all, some, buffer] = answer as [Float64Array, Float64Array, ArrayBuffer];
    expect(all).toEqual(numbers);
    expect(some.buffer).toBe(all.buffer);
    expect(buffer).toBe(all.buffer);
    expect(some[0]).toBe(5);
  });

  it('are copied with transfer: false', async () => {
    const { fate, answer } = await fateOf(`{ numbers, many: ${MANY} }`, { transfer: false });
    expect(fate).toBe(2);
    expect((answer as { numbers: unknown }).numbers).toEqual(numbers);
  });

  it.each([
    [
      'memory of WebAssembly',
      'new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer, 0, 3)',
      [0, 0, 0],
    ],
    ['small Buffers out of the pool', `Buffer.from('abc')`, [97, 98, 99]],
  ])('that cannot be transferred are copied: %s', async (_, value, bytes) => {
    const answer = await answerOf(`export default () => ({ bytes: ${value}, buffer: new ArrayBuffer(8) })`);
    expect(answer).toEqual({ bytes: Uint8Array.from(bytes), buffer: new ArrayBuffer(8) });
  });

  it('that are shared are shared', async () => {
    const flag = sharedInt();
    const answer = (await loadOf('export default (flag) => flag')(flag, new AbortController())) as Int32Array;
    Atomics.store(flag, 0, 7);
    expect(answer[0]).toBe(7);
  });
});
