import { parseJson } from '../bounded-json.ts';
import { randomId } from './identity.ts';
import type { Codec } from './store-contract.ts';

/**
 * Stands in a text for the version of the edition that it is the text of, which is given when it is written. It is greater than any,
 * and nothing in an edition is later than the edition itself: a reader takes its version for all that is greater.
 */
export const THIS_EDITION: number = Number.MAX_SAFE_INTEGER;

/**
 * How the editions of a board travel: as JSON, and a line that makes each text another one, by which one that was written already is
 * recognized.
 *
 * @param checked throws for anything that is not such a board.
 * @param replacer as of `JSON.stringify`.
 */
export function boardCodec<T>(
  format: string,
  checked: (board: T) => T,
  replacer?: (key: string, value: unknown) => unknown,
): Codec {
  return {
    format,
    encode: (board) => `${JSON.stringify(board, replacer)}\n${randomId()}`,
    decode: (text) => checked(parseJson(String(text).split('\n', 1)[0] as string) as T),
  };
}
