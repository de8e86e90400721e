import { describe, expect, it } from 'vitest';
import { type Parse, parseBody } from '../../../src/sources/parse.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const parsed = (text: string, parse?: Parse): Promise<unknown> => parseBody(bytesOf(text), parse);

describe('parseBody', () => {
  it.each<[format: Parse | undefined, text: string, value: unknown]>([
    [undefined, '{"a":1}', { a: 1 }],
    ['json', '\ufeff[1]', [1]],
    ['json', 'null', null],
    ['text', '', ''],
    ['text', '\ufeffä\n', 'ä\n'],
    ['ndjson', '', []],
    ['ndjson', '{"a":1}\r\n\n [2] \n3', [{ a: 1 }, [2], 3]],
    ['csv', 'code,city\n1012,Amsterdam\n', [{ code: '1012', city: 'Amsterdam' }]],
    ['csv', 'code,city\r\n"10\r\n12","a ""b"""\r\n\r\n', [{ code: '10\r\n12', city: 'a "b"' }]],
    ['csv', '\ufeffcode\n', []],
    [({ text, bytes }) => `${text} ${bytes.length}`, 'é', 'é 2'],
    [async ({ bytes }) => bytes[0], 'A', 65],
  ])('%s: %j is %j', async (format, text, value) => {
    expect(await parsed(text, format)).toEqual(value);
  });

  it.each<[format: Parse, text: string, message: string]>([
    ['json', '', 'it is empty, not JSON'],
    ['json', ' \n', 'it is empty, not JSON'],
    ['json', '<!DOCTYPE html>', 'line 1, column 1, is not JSON'],
    ['json', '{\n  "a": 1,\n  "secret": x\n}', 'line 3, column 13, is not JSON'],
    ['json', '[1]]', 'line 1, column 4, is not JSON'],
    ['json', '["\u0001"]', 'line 1, column 3, is not JSON'],
    ['json', '{"a":\n[1, 2', 'the JSON ends too early, at line 2, column 6'],
    ['ndjson', '{"a":1}\n\n{"a":}\n{', 'line 3, column 6, is not JSON'],
    ['ndjson', '{"a":1}\n{"a":', 'the JSON ends too early, at line 2, column 6'],
    ['csv', '', 'it is empty: the first line, which names the columns, is missing'],
    ['csv', 'a,b\n1,2\n"secret', 'line 3 is not CSV (CSV_QUOTE_NOT_CLOSED)'],
    ['csv', 'a,b\n1,2\n\n3\n', 'line 4 is not CSV (CSV_RECORD_INCONSISTENT_COLUMNS)'],
    ['csv', 'a,b\n"x\ny",2\nse"cret,2\n', 'line 4 is not CSV (INVALID_OPENING_QUOTE)'],
    ['csv', 'a,b,a\n1,2,3', 'column 3 has the name of an earlier column'],
  ])('%s: %j is refused: %s', async (format, text, message) => {
    const error = await parsed(text, format).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ message });
    expect(error).not.toHaveProperty('cause'); // it would quote the text
  });

  it('names the first byte that is not UTF-8', async () => {
    const refused = (...bytes: number[]) => parseBody(Uint8Array.from(bytes), 'text');
    await expect(refused(0x61, 0xc3, 0xa4, 0xff, 0x61)).rejects.toThrow('byte 3 is not UTF-8');
    await expect(refused(0xff)).rejects.toThrow('byte 0 is not UTF-8');
    await expect(refused(0x61, 0xe2, 0x82)).rejects.toThrow('byte 2 is not UTF-8'); // it ends within a character
    await expect(refused(0x61, 0xed, 0xa0, 0x80)).rejects.toThrow('byte 2 is not UTF-8'); // half of a surrogate pair
  });

  it('a column may have any name', async () => {
    const rows = (await parsed('__proto__,constructor\n1,2', 'csv')) as object[];
    expect(Object.entries(rows[0] as object)).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
    expect(Object.getPrototypeOf(rows[0])).toBe(Object.prototype);
  });

  it.each<[what: string, format: Parse, text: string, message: string]>([
    ['deep JSON', 'json', '['.repeat(10_001), 'line 1, the JSON is nested deeper than 10000 levels'],
    ['a deep item', 'ndjson', `1\n${'{"a":'.repeat(10_001)}`, 'line 2, the JSON is nested deeper'],
    [
      'brackets',
      'json',
      `[${'[],'.repeat(2 ** 22)}1]`,
      'the JSON is of more than 4194304 arrays and objects',
    ],
    ['small items', 'ndjson', '1\n'.repeat(2 ** 22 + 1), 'it is of more than 4194304 items'],
    ['empty rows', 'csv', 'a\n'.repeat(2 ** 22 + 1), 'it is of more than 4194304 lines'],
  ])('%s is refused before it is parsed, however the text goes on', async (_, format, text, message) => {
    await expect(parsed(text, format)).rejects.toThrow(message);
  });

  it('JSON that is nested 10,000 levels deep is parsed, and brackets in strings are not counted', async () => {
    const text = '['.repeat(10_000) + JSON.stringify(`\\"${'['.repeat(20_000)}`) + ']'.repeat(10_000);
    let inner = await parsed(text);
    while (Array.isArray(inner)) [inner] = inner;
    expect(inner).toHaveLength(20_002);
  });

  it('an array of five million numbers and a million rows are parsed', async () => {
    expect(await parsed(`[${'1,'.repeat(5e6)}1]`)).toHaveLength(5e6 + 1);
    expect(await parsed(`[${'{"code":"1012"},'.repeat(1e6)}1]`)).toHaveLength(1e6 + 1);
  });

  it('what a function throws is passed on', async () => {
    const error = new Error('no prices');
    await expect(parsed('', () => Promise.reject(error))).rejects.toBe(error);
  });
});
