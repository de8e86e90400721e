import { ownMessageOf } from '../observe/logger.ts';
import { type Parse, parseBody } from './parse.ts';

/** Parses what this source has read. @throws {Error} naming the source, with the error of the parser as `cause`. */
export async function parseFrom<T>(source: string, bytes: Uint8Array, parse: Parse<T>): Promise<T> {
  try {
    return await parseBody(bytes, parse);
  } catch (error) {
    throw new Error(`${source}: ${ownMessageOf(error)}`, { cause: error });
  }
}
