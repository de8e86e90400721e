import type { ActionName } from '../console/action-names.ts';
import { withoutCredentials } from '../console/redact.ts';

/** Where the console is, and how it knows the operator. */
export interface Connection {
  /** Of the page: with or without a slash at its end. */
  readonly url: string;
  /** `name: value`, such as `authorization: Bearer …`. */
  readonly headers: readonly string[];
}

/** The console does not answer, or refuses. For people. */
export class ConsoleError extends Error {}

/** In milliseconds. */
const TIMEOUT_MS = 15_000;

/** The address of a console. @throws {ConsoleError} without repeating a password. */
export function addressOf(url: string): URL {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    const received = withoutCredentials(url);
    throw new ConsoleError(`--url must be the http(s) address of a console, received ${received}`);
  }
  const address = new URL(url.endsWith('/') ? url : `${url}/`);
  if (address.username !== '' || address.password !== '') {
    throw new ConsoleError("--url must not have a user or a password: use --header 'authorization: Basic …'");
  }
  return address;
}

/** The JSON API of a console. */
export class ConsoleClient {
  readonly #base: URL;
  readonly #headers: Headers;

  /** @throws {ConsoleError} for a malformed URL or header. */
  constructor({ url, headers }: Connection) {
    this.#base = addressOf(url);
    this.#headers = new Headers();
    for (const header of headers) {
      const [, name, value] = /^([\w-]+):\s*(.+)$/.exec(header) ?? [];
      // The text may be a secret: it is not repeated.
      if (name === undefined || value === undefined) throw new ConsoleError("--header must be 'name: value'");
      this.#headers.append(name, value);
    }
  }

  get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
    const url = new URL(`api/${path}`, this.#base);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.#send(url, { headers: this.#headers });
  }

  /** Carries an action out. @returns what happened. */
  async act(action: ActionName, body: object): Promise<string> {
    const { token } = await this.get<{ readonly token: string }>('session');
    const headers = new Headers(this.#headers);
    headers.set('content-type', 'application/json');
    headers.set('x-tickless-token', token);
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const url = new URL(`api/actions/${action}`, this.#base);
    return (await this.#send<{ readonly message: string }>(url, init)).message;
  }

  async #send<T>(url: URL, init: RequestInit): Promise<T> {
    let response: Response;
    try {
      // A redirect may lead to another host, which must not get the headers.
      response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      const { cause, message } = error as Error;
      const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
      throw new ConsoleError(`${this.#base.origin} does not answer: ${why}`);
    }
    const body = await response.json().catch(() => undefined);
    if (response.ok && body !== undefined) return body as T;
    const { error } = (body ?? {}) as { readonly error?: { readonly message?: string } };
    throw new ConsoleError(
      error?.message ?? `the answer (${response.status}) is not that of a console: is --url right?`,
    );
  }
}
