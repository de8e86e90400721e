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
export interface HttpInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
  readonly body?: ArrayBuffer;
  readonly integrity?: string;
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
  if (location === null || !URL.canParse(location, from)) return undefined;
  return withoutSecrets(new URL(location, from));
}

/** Frees the connection of a response whose body is not read. */
export async function discard({ body }: HttpResponse): Promise<void> {
  try {
    await body?.cancel();
  } catch {
    // It has ended by itself, with an error.
  }
}
