import { PARAMETER, parameterOf, type SqlParameters, type SqlValue } from './client.ts';

/** Marks a parameter to be written in base64, a third longer than its bytes; hexadecimal would take twice its bytes. */
export const BASE64 = 'FROM_BASE64(';
const PLACE = new RegExp(`(FROM_BASE64\\()?${PARAMETER.source}`, PARAMETER.flags);

/** A statement with its parameters written in. */
export function withLiterals(sql: string, parameters: SqlParameters): string {
  return sql.replace(PLACE, (_, before: string = '', name: string) => {
    const value = parameterOf(parameters, name);
    return before + (before === BASE64 ? base64(String(value)) : literal(value));
  });
}

function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `_utf8mb4 X'${hex(value)}'`;
  if (!Number.isFinite(value)) throw new TypeError(`SQL parameter is ${value}, expected a finite number`);
  return String(value);
}

function hex(text: string): string {
  const digits = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0'));
  return digits.join('');
}

/** An empty text is `X''`: in the mode EMPTY_STRING_IS_NULL `''` means NULL. */
function base64(text: string): string {
  if (text === '') return `X''`;
  const bytes = new TextEncoder().encode(text);
  let characters = '';
  for (let i = 0; i < bytes.length; i += SLICE) {
    const slice: ArrayLike<number> = bytes.subarray(i, i + SLICE);
    characters += btoa(String.fromCharCode.apply(null, slice as number[])); // spreading is three times slower
  }
  return `'${characters}'`;
}

/** Bytes per call. A multiple of three, so that only the last slice is padded. */
const SLICE = 0x6000;
