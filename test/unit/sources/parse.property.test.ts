import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseBody } from '../../../src/sources/parse.ts';

const isUtf8 = (bytes: Uint8Array, isPart = false): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isPart });
    return true;
  } catch {
    return false;
  }
};

/** Texts in UTF-8 with a few bytes changed. */
const almostUtf8 = fc
  .tuple(fc.string({ unit: 'binary' }), fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 2 }))
  .map(([text, edits]) => {
    const bytes = new TextEncoder().encode(text);
    for (const [at, byte] of edits) if (at < bytes.length) bytes[at] = byte;
    return bytes;
  });

it('the byte that is named is the first one that no UTF-8 continues with', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(almostUtf8, fc.uint8Array()), async (bytes) => {
      const error = await parseBody(bytes, 'text').then(
        () => undefined,
        (reason: Error) => reason,
      );
      expect(error === undefined).toBe(isUtf8(bytes));
      if (error === undefined) return;
      const at = Number(/^byte (\d+) is not UTF-8$/.exec(error.message)?.[1]);
      expect(isUtf8(bytes.subarray(0, at), true)).toBe(true);
      // Either it is wrong itself, or the text ends within the character that it is of.
      if (isUtf8(bytes.subarray(0, at + 1), true)) expect(at).toBe(bytes.length - 1);
    }),
    { numRuns: 1000 },
  );
});

it('hostile bodies are a value or a SyntaxError or TypeError, which quotes nothing', async () => {
  const marked = fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before}SECRET${after}`);
  const format = fc.constantFrom('json', 'ndjson', 'csv', 'text');
  await fc.assert(
    fc.asyncProperty(format, marked, async (parse, text) => {
      const bytes = new TextEncoder().encode(text);
      const error = await parseBody(bytes, parse).then(
        () => undefined,
        (reason: Error) => reason,
      );
      if (error === undefined) return;
      expect(['SyntaxError', 'TypeError']).toContain(error.name);
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('SECRET');
      expect(error.cause).toBeUndefined();
    }),
    { numRuns: 1000 },
  );
});

const cell = fc.string({ unit: fc.constantFrom(...'ab,"\n\r é') }).filter((text) => text !== '\ufeff');
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

it('rows that are written as RFC 4180 says come back', async () => {
  const rows = fc.array(fc.tuple(cell, cell), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, async (written) => {
      const text = [['x', 'y'], ...written].map((row) => row.map(quoted).join(',')).join('\r\n');
      const read = await parseBody(new TextEncoder().encode(text), 'csv');
      expect(read).toEqual(written.map(([x, y]) => ({ x, y })));
    }),
    { numRuns: 300 },
  );
});

it('items that are written one a line come back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue(), { maxLength: 5 }), async (items) => {
      const written = items.map((item) => JSON.stringify(item));
      const text = written.map((line) => `${line}\n`).join('');
      const read = (await parseBody(new TextEncoder().encode(text), 'ndjson')) as unknown[];
      expect(read.map((item) => JSON.stringify(item))).toEqual(
        written.map((line) => JSON.stringify(JSON.parse(line))),
      );
    }),
    { numRuns: 300 },
  );
});
