import { onTestFinished } from 'vitest';
import { type ConsoleHandler, type ConsoleOptions, consoleHandler } from '../../src/console/index.ts';
import { RefreshGroup } from '../../src/index.ts';

export const BASE = 'http://admin.example/tickless/';

/** What the API answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect.
  readonly body: any;
}

/** A console that its operator uses with or without a right token. */
export class TestConsole {
  readonly group: RefreshGroup;
  readonly handler: ConsoleHandler;

  constructor(
    options: ConsoleOptions = {},
    group: RefreshGroup = new RefreshGroup({ logger: false, retry: false }),
  ) {
    this.group = group;
    this.handler = consoleHandler(group, { authorize: () => 'ann', ...options });
  }

  async get(path: string, headers: HeadersInit = {}, init: RequestInit = {}): Promise<Answer> {
    return answerOf(await this.handler(new Request(new URL(path, BASE), { headers, ...init })));
  }

  /** @param headers replace those of a page of the console. */
  async post(
    path: string,
    body: unknown = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { token } = (await this.get('api/session')).body;
    const own = {
      'content-type': 'application/json',
      'x-tickless-token': token,
      origin: 'http://admin.example',
    };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method: 'POST', body: text, headers: { ...own, ...headers } };
    return answerOf(await this.handler(new Request(new URL(path, BASE), init)));
  }

  act(action: string, body: unknown): Promise<Answer> {
    return this.post(`api/actions/${action}`, body);
  }
}

/** A console that is closed with its group when the test is over. */
export function openConsole(options: ConsoleOptions, group: RefreshGroup): TestConsole {
  const console = new TestConsole(options, group);
  onTestFinished(async () => {
    await console.handler.close();
    await group.close({ timeout: 0 });
  });
  return console;
}

export async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get('content-type')?.startsWith('application/json');
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}
