import { type Signal, signal } from '@preact/signals';
import type { ActionName } from '../action-names.ts';

/** The operator, as the console knows it. */
export interface Session {
  readonly by: string;
  readonly actions: readonly ActionName[];
  readonly token: string;
  readonly refreshEveryMs: number;
  readonly showsValues: boolean;
}

export const session: Signal<Session | undefined> = signal(undefined);

/** The answer of the console, or why there is none. */
export class ApiError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** An answer that takes longer is none: the service hangs, or the way to it. In milliseconds. */
const LONGEST_MS = 15_000;
/** An action may wait for a load. */
const LONGEST_ACTION_MS = 60_000;

export function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const search = new URLSearchParams(query).toString();
  const init = { headers: { accept: 'application/json' } };
  return ask(`${path}${search === '' ? '' : `?${search}`}`, init, LONGEST_MS);
}

export async function open(): Promise<void> {
  session.value = await get<Session>('session');
}

/** Carries out an action. A token that is over, or of another instance, is renewed, and the request is sent once more. */
export async function act(action: ActionName, body: object, isRetry: boolean = false): Promise<string> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tickless-token': session.value?.token ?? '' },
    body: JSON.stringify(body),
  };
  try {
    const { message } = await ask<{ readonly message: string }>(`actions/${action}`, init, LONGEST_ACTION_MS);
    return message;
  } catch (error) {
    if (isRetry || (error as ApiError).code !== 'token') throw error;
    await open();
    return act(action, body, true);
  }
}

async function ask<T>(path: string, init: RequestInit, longestMs: number): Promise<T> {
  const signal = AbortSignal.timeout(longestMs); // also ends a body that stalls
  try {
    const response = await fetch(`api/${path}`, { ...init, signal });
    if (response.ok) return (await response.json()) as T;
    const { error } = await response.json().catch(() => ({}));
    const { code = 'failed', message = `the console answered ${response.status}` } = error ?? {};
    throw new ApiError(code, message);
  } catch (error) {
    if (error instanceof TypeError) throw new ApiError('no-answer', 'the service does not answer'); // of the network
    if (!signal.aborted) throw error;
    throw new ApiError('timeout', `the console did not answer within ${longestMs / 1000} s`);
  }
}
