import type { ActionName } from '../console/action-names.ts';
import { printable } from '../printable.ts';
import { unlessAborted } from '../time/on-abort.ts';
import { type AnswerName, isAnswer } from './answers.ts';

/** Where the console is, and how it knows the operator. */
export interface Connection {
  /** Of the page: with or without a slash at its end. */
  readonly url: string;
  /** `name: value`, such as `authorization: Bearer …`. */
  readonly headers: readonly string[];
}

/** The console does not answer, or refuses. For people. */
export class ConsoleError extends Error {}

/** Of an answer, in bytes. */
const LONGEST_ANSWER = 10_000_000;

/** For an answer to its last byte, in milliseconds. */
const TIMEOUT_MS = 15_000;

/** The answers of the API, with the names of their schemas. */
const ANSWERS = { session: 'Session', overview: 'Overview', member: 'Detail', locks: 'Locks' } as const;

/** The address of a console. @throws {ConsoleError} that does not repeat it. */
export function addressOf(url: string): URL {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    // It may have a password, which can't be found in a text that is not a URL: it is not repeated.
    throw new ConsoleError(
      '--url must be the http(s) address of a console, such as http://localhost:3000/tickless',
    );
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

  get<T>(path: keyof typeof ANSWERS, query: Readonly<Record<string, string>> = {}): Promise<T> {
    const url = new URL(`api/${path}`, this.#base);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.#send(ANSWERS[path], url, { headers: this.#headers });
  }

  /** Carries an action out. @returns what happened. */
  async act(action: ActionName, body: object): Promise<string> {
    const { token } = await this.get<{ readonly token: string }>('session');
    const headers = new Headers(this.#headers);
    headers.set('content-type', 'application/json');
    headers.set('x-tickless-token', token);
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const url = new URL(`api/actions/${action}`, this.#base);
    return (await this.#send<{ readonly message: string }>('ActionResult', url, init)).message;
  }

  async #send<T>(answer: AnswerName, url: URL, init: RequestInit): Promise<T> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    let text: string;
    try {
      // A redirect may lead to another host, which must not get the headers.
      response = await unlessAborted(fetch(url, { ...init, redirect: 'error', signal }), signal);
      text = await textOf(response, signal);
    } catch (error) {
      if (error instanceof ConsoleError) throw error;
      const { cause, message } = error as Error;
      const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
      throw new ConsoleError(`${this.#base.origin} does not answer: ${why}`);
    }
    const body = parsed(text);
    if (response.ok && isAnswer(answer, body)) return body as T;
    if (!response.ok && isAnswer('Error', body)) {
      throw new ConsoleError(printable((body as { error: { message: string } }).error.message));
    }
    throw new ConsoleError(
      `the answer (${response.status}) is not that of a console of this version: is --url right?`,
    );
  }
}

/** The body, as far as it is within the limits. */
async function textOf(response: Response, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal);
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > LONGEST_ANSWER) throw new ConsoleError('the answer is longer than 10 MB: is --url right?');
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => undefined); // ends the connection, if there is more to come
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
