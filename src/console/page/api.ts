import { type Signal, signal } from '@preact/signals';
import type { ActionName } from '../action-names.ts';

/** The operator, as the console knows it. */
export interface Session {
  readonly by: string;
  readonly actions: readonly ActionName[];
  readonly token: string;
  readonly refreshEveryMs: number;
  readonly showsValues: boolean;
  readonly canPauseEverywhere: boolean;
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

export async function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const search = new URLSearchParams(query).toString();
  return answer(
    await fetch(`api/${path}${search === '' ? '' : `?${search}`}`, {
      headers: { accept: 'application/json' },
    }),
  );
}

export async function open(): Promise<void> {
  session.value = await get<Session>('session');
}

/** Carries out an action. A token that is over, or of another instance, is renewed, and the request is sent once more. */
export async function act(action: ActionName, body: object, isRetry: boolean = false): Promise<string> {
  const response = await fetch(`api/actions/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tickless-token': session.value?.token ?? '' },
    body: JSON.stringify(body),
  });
  try {
    return (await answer<{ readonly message: string }>(response)).message;
  } catch (error) {
    if (isRetry || (error as ApiError).code !== 'token') throw error;
    await open();
    return act(action, body, true);
  }
}

async function answer<T>(response: Response): Promise<T> {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body as T;
  const { code = 'failed', message = `the console answered ${response.status}` } = body.error ?? {};
  throw new ApiError(code, message);
}
