import { type Parse, parseBody } from './parse.ts';

/** Parses what this source has read. @throws {Error} naming the source, with the error of the parser as `cause`. */
export async function parseFrom<T>(source: string, bytes: Uint8Array, parse: Parse<T>): Promise<T> {
  try {
    return await parseBody(bytes, parse);
  } catch (error) {
    throw new Error(`${source}: ${messageOf(error)}`, { cause: error });
  }
}

/** Its message, else its code: the error of Node for a host of several addresses that all refuse has no message. */
export function messageOf(error: unknown): string {
  const { message, code } = (error ?? {}) as { readonly message?: unknown; readonly code?: unknown };
  return String(message || code || error);
}
