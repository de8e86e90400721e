import { describe, expect, it } from 'vitest';
import { csv } from '../../../src/sources/index.ts';
import { type Parse, parseBody } from '../../../src/sources/parse.ts';

const parsed = (text: string, parse: Parse = 'csv'): Promise<unknown> =>
  parseBody(new TextEncoder().encode(text), parse);

const ROWS = [
  { code: 'NL', name: 'x' },
  { code: 'BE', name: 'y' },
];

describe('csv', () => {
  it.each([
    ['LF', 'code,name\nNL,x\nBE,y\n'],
    ['CRLF', 'code,name\r\nNL,x\r\nBE,y\r\n'],
    ['CR', 'code,name\rNL,x\rBE,y\r'],
    ['LF after the header, CRLF after rows', 'code,name\nNL,x\r\nBE,y\r\n'],
    ['CRLF after the header, LF after rows', 'code,name\r\nNL,x\nBE,y'],
    ['both after rows, with empty lines', 'code,name\nNL,x\r\n\n\r\nBE,y\n\r\n'],
  ])('lines may end in %s', async (_, text) => {
    expect(await parsed(text)).toEqual(ROWS);
  });

  it('ends of lines within quotes are kept as they are', async () => {
    expect(await parsed('a,b\n"1\r\n2","3\r4"\r\n')).toEqual([{ a: '1\r\n2', b: '3\r4' }]);
  });

  it.each([';', '\t', '|', ':', '€', ','])('fields may be separated by %j', async (delimiter) => {
    const text = 'code,name\nNL,x\nBE,y\n'.replaceAll(',', delimiter);
    expect(await parsed(text, csv({ delimiter }))).toEqual(ROWS);
  });

  it('has a comma between fields, if no other delimiter is given', async () => {
    expect(await parsed('code,name\nNL,x\nBE,y\n', csv())).toEqual(ROWS);
    expect(await parsed('code,name\nNL,x\nBE,y\n', csv({ delimiter: undefined }))).toEqual(ROWS);
  });

  it.each([
    ['code;name\nNL;x\n', 'csv', `csv({ delimiter: ';' })`],
    ['code\tname\r\nNL\tx\r\n', 'csv', String.raw`csv({ delimiter: '\t' })`],
    ['code|name\nNL|x\n', 'csv', `csv({ delimiter: '|' })`],
    ['\ufeffcode;name\n', 'csv', `csv({ delimiter: ';' })`],
    ['code,name\nNL,x\n', csv({ delimiter: ';' }), `csv({ delimiter: ',' })`],
    ['sep=;\r\ncode;name\r\nNL;x\r\n', 'csv', `its first line is sep=;: is it separated by ';'?`],
  ] as const)('%j as one column is refused, with what to write', async (text, parse, advice) => {
    await expect(parsed(text, parse)).rejects.toThrow(advice);
  });

  it('one column with a plain name is a list', async () => {
    expect(await parsed('code\nNL\nBE;1\n')).toEqual([{ code: 'NL' }, { code: 'BE;1' }]);
  });

  it('leaves out the line in which Excel names the delimiter', async () => {
    expect(await parsed('\ufeffsep=;\r\ncode;name\r\nNL;x\r\nBE;y\r\n', csv({ delimiter: ';' }))).toEqual(
      ROWS,
    );
    expect(await parsed('sep=,\ncode,name\nNL,x\nBE,y\n')).toEqual(ROWS);
  });

  it.each([
    { delimiter: '' },
    { delimiter: ';;' },
    { delimiter: '"' },
    { delimiter: '\n' },
    { delimiter: 1 },
    { separator: ';' },
    null,
    ';',
  ])('refuses the options %j', (options) => {
    expect(() => csv(options as never)).toThrow(expect.objectContaining({ code: 'OPTION' }));
  });
});
