import { printable } from '../printable.ts';
import { headerOf } from '../schedule/http-headers.ts';
import type { HeadersLike } from '../schedule/schedule.ts';
import { type HttpAnswer, redirectOf } from './http-response.ts';
import { urlName } from './source-url.ts';

/**
 * An error with the innermost cause, unless the runtime repeats the values of the query: some name the whole URL.
 *
 * @param what names the source.
 */
export function failure(what: string, error: unknown, url: URL): Error {
  const chain: unknown[] = [];
  for (let at = error; at !== undefined && at !== null && chain.length < 8; at = (at as Error).cause)
    chain.push(at);
  const deepest = (chain.at(-1) ?? {}) as Partial<Error> & { readonly code?: unknown };
  const texts = chain.flatMap((one) => [one, (one as Partial<AggregateError>).errors].flat().map(textOf));
  const isSecret = url.search !== '' && texts.some((text) => text.includes(url.search));
  const said = isSecret ? deepest.code : deepest.message || deepest.code;
  const reason = said === undefined ? '' : `: ${printable(String(said).trim(), 200)}`;
  return new Error(`${what}${reason}`, isSecret ? {} : { cause: chain.at(-1) });
}

function textOf(error: unknown): string {
  const { message, stack } = (error ?? {}) as Partial<Error>;
  return typeof error === 'string' ? error : `${message} ${stack}`;
}

/** It has what the engine reads about the pause that a source asks for, and no header that may be a secret. */
export function statusError(answer: HttpAnswer): Error {
  const { response, url } = answer;
  const next = redirectOf(response, url);
  const what = next === undefined ? '' : `, a redirect to ${urlName(next)} that is not followed`;
  const { status, headers } = response;
  return Object.assign(new Error(`${answered(answer)}${what}`), { status, headers: pauseHeaders(headers) });
}

const PAUSE_HEADERS: readonly string[] = [
  'date',
  'age',
  'retry-after',
  'ratelimit',
  ...['ratelimit', 'x-ratelimit', 'x-rate-limit'].flatMap((prefix) =>
    ['remaining', 'reset', 'reset-after'].map((name) => `${prefix}-${name}`),
  ),
];

/** The headers that tell how long the source is to be left alone. */
export function pauseHeaders(headers: HeadersLike): Readonly<Record<string, string>> {
  const found = PAUSE_HEADERS.map((name) => [name, headerOf(headers, name)]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

/** For a body that `error` says is not of its format. */
export function parseError(answer: HttpAnswer, error: unknown): Error {
  const type = answer.response.headers.get('content-type') ?? 'without a content type';
  const { message = String(error) } = (error ?? {}) as Partial<Error>;
  return new Error(`${answered(answer)} (${printable(type, 60)}): ${message}`, { cause: error });
}

function answered({ response: { status, statusText }, url }: HttpAnswer): string {
  return `${urlName(url)} answered ${printable(`${status} ${statusText}`.trim(), 100)}`;
}
