import { loaded } from '../index.ts';
import { type Parse, parseBody } from '../sources/parse.ts';
import type { Source } from '../sources/source.ts';

export interface DocumentOptions {
  readonly maxBytes: number;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly fetch: typeof globalThis.fetch;
}

// TEMPORARY seam: replaced by httpSource.
export function documentSource<T>(
  url: string,
  parse: Parse<T>,
  { maxBytes, headers, fetch }: DocumentOptions,
): Source<T> {
  return async ({ signal }) => {
    const response = await fetch(url, {
      signal,
      redirect: 'manual',
      ...(headers === undefined ? {} : { headers }),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw Object.assign(new Error(`${url} answered ${response.status}`), {
        status: response.status,
        headers: response.headers,
      });
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length > maxBytes) throw new Error(`${url} is larger than ${maxBytes} bytes`);
    try {
      return loaded(await parseBody(bytes, parse), { headers: response.headers, meta: { source: url } });
    } catch (cause) {
      throw new Error(`${url}: ${(cause as Error).message}`, { cause });
    }
  };
}
