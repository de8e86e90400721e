import { mostParts } from '../bounded-json.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import type { Body } from './body.ts';

/** The options of {@link csv}. */
export interface CsvOptions {
  /** The character between two fields: `';'`, `'\t'`, `'|'`. @default ',' */
  readonly delimiter?: string | undefined;
}

/**
 * The format of CSV with another character between its fields, for the option `parse` of a source. `parse: 'csv'` is `parse: csv()`: an
 * array of one object a row, its fields named by the first line, all of them strings. It needs the package `csv-parse`.
 *
 * A line `sep=;` before the first one, as Excel writes it, is left out. A file whose first line has no delimiter, but a semicolon, a tab or a
 * bar, fails the load.
 *
 * ```ts no-run
 * import { RefreshingValue } from 'tickless';
 * import { csv, fileSource } from 'tickless/sources';
 *
 * const prices = new RefreshingValue({
 *   name: 'prices',
 *   load: fileSource('prices.csv', { parse: csv({ delimiter: ';' }) }),
 *   schedule: '1m',
 * });
 * ```
 *
 * @throws {TicklessError} `OPTION` for a delimiter that is not one character, and for unknown options.
 */
export function csv(options: CsvOptions = {}): (body: Body) => Promise<Record<string, string>[]> {
  const checks = new OptionChecks('csv');
  const isObject = typeof options === 'object' && options !== null;
  checks.that(isObject, 'options', "must be an object, such as { delimiter: ';' }", options);
  const given = ownOptions(isObject ? options : {});
  checks.names('', given, ['delimiter']);
  const { delimiter = ',' } = given;
  const isDelimiter = typeof delimiter === 'string' && /^[^"\r\n]$/u.test(delimiter);
  const rule = 'must be one character, and not a quote or the end of a line';
  checks.that(isDelimiter, 'delimiter', rule, delimiter);
  checks.done();
  return (body) => parseCsv(body.text, delimiter);
}

/** @throws {SyntaxError} which has no cause: that of the package has the row. */
async function parseCsv(given: string, delimiter: string): Promise<Record<string, string>[]> {
  const text = withoutHint(given, delimiter);
  if (text.trim() === '')
    throw new SyntaxError('it is empty: the first line, which names the columns, is missing');
  const hasLines = text.includes('\n');
  checkCount(text, hasLines ? '\n' : '\r');
  const { parse } = await csvParser();
  try {
    return parse(text, {
      delimiter,
      columns: (names: string[]) => columnsOf(names, delimiter),
      skip_empty_lines: true,
      // The package would take the end of the first line for that of all.
      record_delimiter: hasLines ? ['\r\n', '\n'] : ['\r'],
    });
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
    const { code, lines } = error as { readonly code?: string; readonly lines?: number };
    throw new SyntaxError(`line ${lines} is not CSV (${code})`);
  }
}

async function csvParser(): Promise<typeof import('csv-parse/sync')> {
  try {
    return await import('csv-parse/sync');
  } catch (cause) {
    throw new Error("parse: 'csv' needs a package: npm install csv-parse", { cause });
  }
}

/** Excel writes its delimiter before the first line. @throws {SyntaxError} for another delimiter. */
function withoutHint(text: string, delimiter: string): string {
  const [line, hint] = /^\ufeff?sep=([^\r\n])\r?\n/i.exec(text) ?? [];
  if (line === undefined || hint === undefined) return text;
  if (hint !== delimiter) throw new SyntaxError(`its first line is ${line.trim()}: ${advice(hint)}`);
  return text.slice(line.length);
}

/** A row takes much more memory than a line. @throws {SyntaxError} for a text that is little else than ends of lines. */
function checkCount(text: string, end: string): void {
  const most = mostParts(text);
  let count = 0;
  for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end, at + 1)) count += 1;
  if (count > most) throw new SyntaxError(`it is of more than ${most} lines`);
}

/** The fields of the first line, each of which names a column: of two with one name, one would be lost. */
function columnsOf(names: string[], delimiter: string): string[] {
  const [only = ''] = names;
  const other = names.length === 1 ? [',', ';', '\t', '|'].find((one) => only.includes(one)) : undefined;
  if (other !== undefined) {
    const shown = JSON.stringify(delimiter);
    throw new SyntaxError(`the first line names one column, without ${shown} in it: ${advice(other)}`);
  }
  const seen = new Set<string>();
  const twice = names.findIndex((name) => seen.has(name) || !seen.add(name));
  if (twice < 0) return names;
  throw new SyntaxError(`column ${twice + 1} has the name of an earlier column`);
}

function advice(delimiter: string): string {
  const shown = delimiter === '\t' ? "'\\t'" : `'${delimiter}'`;
  return `is it separated by ${shown}? Write parse: csv({ delimiter: ${shown} }), with csv of tickless/sources`;
}
