import { type Parse, parseBody } from './parse.ts';

/** Parses what this source has read. @throws {Error} naming the source, with the error of the parser as `cause`. */
export async function parseFrom<T>(source: string, bytes: Uint8Array, parse: Parse<T>): Promise<T> {
  try {
    return await parseBody(bytes, parse);
  } catch (error) {
    throw new Error(`${source}: ${messageOf(error)}`, { cause: error });
  }
}

export function messageOf(error: unknown): string {
  const message = (error as { readonly message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' && message !== '' ? message : String(error);
}
