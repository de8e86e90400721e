import type { RedisClient } from './client.ts';

interface Emitter {
  on?(event: string | symbol, listener: (error: unknown) => void): unknown;
}

interface Events {
  readonly errorMonitor: symbol;
}

interface Global {
  readonly process?: { getBuiltinModule?(id: 'node:events'): Events | undefined };
}

/** One watch per client: several locks and stores share its listeners. */
const watches: WeakMap<object, ClientErrors> = new WeakMap();

/**
 * Remembers the last `error` event of a client until it is ready: wrong credentials, a refused connection. Commands that
 * wait for the connection meanwhile only know that there was no answer.
 *
 * It listens by Node's `errorMonitor`, which leaves the event to your own listeners, and is none of them: a client without
 * a listener still complains or throws as its documentation says. Without that symbol it remembers nothing.
 */
export class ClientErrors {
  last: Error | undefined = undefined;

  private constructor(client: Emitter) {
    const { errorMonitor } = (globalThis as Global).process?.getBuiltinModule?.('node:events') ?? {};
    if (errorMonitor === undefined) return;
    client.on?.(errorMonitor, (error) => {
      if (error instanceof Error) this.last = error;
    });
    client.on?.('ready', () => {
      this.last = undefined;
    });
  }

  static of(client: RedisClient): ClientErrors {
    const errors = watches.get(client) ?? new ClientErrors(client as unknown as Emitter);
    watches.set(client, errors);
    return errors;
  }

  /** The error of a command, with the last error of the client if there is one. */
  readonly explain = (error: unknown): unknown => {
    const { last } = this;
    if (last === undefined || !(error instanceof Error) || error === last) return error;
    if (error.message.includes(last.message)) return error;
    const explained = new Error(`${error.message}, the client reports: ${last.message}`, { cause: last });
    return Object.assign(explained, 'code' in error ? { code: error.code } : {});
  };
}
