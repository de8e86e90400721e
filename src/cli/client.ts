import { parseJson } from '../bounded-json.ts';
import { readStream } from '../bounded-stream.ts';
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
export class ConsoleError extends Error {
  /** That of the API, where it has answered with one. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** An operator as the console knows it. */
export interface Session {
  readonly actions: readonly ActionName[];
  /** For actions. */
  readonly token: string;
}

/** Of an answer, in bytes. */
const LONGEST_ANSWER = 10_000_000;

/** For an answer to its last byte, in milliseconds. */
const TIMEOUT_MS = 15_000;

/** The same of an action: it may wait for a load. */
const ACTION_TIMEOUT_MS = 60_000;

/** The answers of the API, with the names of their schemas. */
const ANSWERS = {
  session: 'Session',
  overview: 'Overview',
  member: 'Detail',
  locks: 'Locks',
} as const;

/** An action is not among the rights of the operator. */
export function notAllowed(reason: string, action: ActionName): ConsoleError {
  const how = `consoleHandler(group, { actions: ['${action}', …] })`;
  return new ConsoleError(
    `${reason}\nTo allow it: ${how}, and the rights that authorize returns`,
    'read-only',
  );
}

/** An action needs an answer of the backend before it begins. @throws {ConsoleError} where there is none. */
export function throwUnlessAnswered(error: string | undefined): void {
  if (error !== undefined)
    throw new ConsoleError(`${error}\nNothing was changed: try again when the backend answers`);
}

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
      if (name === undefined || value === undefined)
        throw new ConsoleError("TICKLESS_HEADER, or --header, must be 'name: value'");
      this.#headers.append(name, value);
    }
  }

  get<T>(path: keyof typeof ANSWERS, query: Readonly<Record<string, string>> = {}): Promise<T> {
    const url = new URL(`api/${path}`, this.#base);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.#send(ANSWERS[path], url, { headers: this.#headers });
  }

  /** Carries an action out. @returns what happened. */
  async act(action: ActionName, body: object, { token }: Session): Promise<string> {
    const headers = new Headers(this.#headers);
    headers.set('content-type', 'application/json');
    headers.set('x-tickless-token', token);
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const url = new URL(`api/actions/${action}`, this.#base);
    try {
      return (await this.#send<{ readonly message: string }>('ActionResult', url, init)).message;
    } catch (error) {
      if (error instanceof ConsoleError && error.code === 'read-only')
        throw notAllowed(error.message, action);
      throw error;
    }
  }

  /** The remedy of an error, as a further line; empty: its message has it. */
  #remedy(code: string): string {
    if (code === 'token') return '\nGive the consoles of all instances behind this address the same secret';
    const isAnonymous = code === 'forbidden' && [...this.#headers].length === 0;
    return isAnonymous ? '\nNo login was sent: set TICKLESS_HEADER, or give --header' : '';
  }

  async #send<T>(answer: AnswerName, url: URL, init: RequestInit): Promise<T> {
    const isAction = init.method === 'POST';
    const signal = AbortSignal.timeout(isAction ? ACTION_TIMEOUT_MS : TIMEOUT_MS);
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
      const unknown = isAction ? '\nIt may have been carried out: see npx tickless status' : '';
      throw new ConsoleError(`${this.#base.origin} does not answer: ${why}${unknown}`);
    }
    const body = parsed(text);
    if (response.ok && isAnswer(answer, body)) return body as T;
    if (!response.ok && isAnswer('Error', body)) {
      const { error } = body as { readonly error: { readonly code: string; readonly message: string } };
      throw new ConsoleError(`${printable(error.message)}${this.#remedy(error.code)}`, error.code);
    }
    if (response.status === 401)
      throw new ConsoleError(`access is refused (401)${this.#remedy('forbidden')}`);
    throw new ConsoleError(
      `the answer (${response.status}) is not that of a console of this version: is --url right (such as ${this.#base.origin}/tickless)?`,
    );
  }
}

/** The body, as far as it is within the limits. */
async function textOf({ body }: Response, signal: AbortSignal): Promise<string> {
  if (body === null) return '';
  const bytes = await readStream(body, LONGEST_ANSWER, signal, (error) => error as Error);
  if (bytes === undefined) throw new ConsoleError('the answer is longer than 10 MB: is --url right?');
  return new TextDecoder().decode(bytes);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
