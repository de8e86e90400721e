import { withoutSecrets } from './source-url.ts';

/** The part of a `Response` that {@link httpSource} reads. */
export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(reason?: unknown): Promise<void>;
    };
    cancel(reason?: unknown): Promise<void>;
  } | null;
}

/** The second argument of `fetch`, as {@link httpSource} calls it. */
interface HttpInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
  readonly body?: ArrayBuffer;
}

/** The platform's `fetch`, or one that is called as it is: with a proxy, an agent, a client's certificate. */
export type HttpFetch = (url: string, init: HttpInit) => Promise<HttpResponse>;

/** A response, and the URL that has given it. */
export interface HttpAnswer {
  readonly response: HttpResponse;
  readonly url: URL;
  /** Conditions were sent: "304 Not Modified" is about the value in place. */
  readonly isConditional: boolean;
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Where a response leads to; `undefined`: it is not a redirect, or without a URL. */
export function redirectOf({ status, headers }: HttpResponse, from: URL): URL | undefined {
  const location = REDIRECTS.includes(status) ? headers.get('location') : null;
  if (location === null) return undefined;
  const address = utf8Of(location);
  return URL.canParse(address, from) ? withoutSecrets(new URL(address, from)) : undefined;
}

/** Headers are read as Latin-1. Some servers send UTF-8. */
function utf8Of(header: string): string {
  if (Array.from(header).some((character) => character > '\u00ff')) return header; // decoded already
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(header, (byte) => byte.charCodeAt(0)),
    );
  } catch {
    return header;
  }
}

/** Frees the connection of a response whose body is not read. */
export async function discard({ body }: HttpResponse): Promise<void> {
  try {
    await body?.cancel();
  } catch {
    // It has ended by itself, with an error.
  }
}
