// The console on `node:http`, and on what is built on it: Express, Connect, Fastify with middie.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RefreshGroup } from '../index.ts';
import { consoleHandler } from './console-handler.ts';
import type { ConsoleOptions } from './console-options.ts';

/** Answers requests of `node:http`. */
export interface NodeConsole {
  /**
   * Answers a request, as `request` listener of a server, or mounted with `app.use(console)` of Express. A request for
   * another path goes to `next`, or is answered with 404 without it. `authorize` gets the request of Node as `context`.
   */
  (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void;
  /** As of `consoleHandler`. */
  close(): Promise<void>;
}

/**
 * The console of a group for `node:http`; the options are those of `consoleHandler`.
 *
 * ```ts no-run
 * import { createServer } from 'node:http';
 * import { RefreshGroup } from 'tickless';
 * import { nodeConsole } from 'tickless/console/node';
 *
 * const console = nodeConsole(new RefreshGroup(), { authorize: () => 'anyone on this machine' });
 * createServer(console).listen(8080, '127.0.0.1'); // http://127.0.0.1:8080/tickless/
 * ```
 *
 * @throws {OptionError} naming every option that breaks a rule.
 */
export function nodeConsole(group: RefreshGroup, options?: ConsoleOptions): NodeConsole {
  const handler = consoleHandler(group, options);
  const base = (options?.path ?? '/tickless').replace(/\/+$/, '');
  const listener: (...args: Parameters<NodeConsole>) => void = (request, response, next) => {
    // Frameworks strip the path at which they mount from `url`.
    const { originalUrl = request.url ?? '/' } = request as IncomingMessage & {
      readonly originalUrl?: string;
    };
    const isOurs = originalUrl.split('?')[0] === base || originalUrl.startsWith(`${base}/`);
    if (!isOurs && next !== undefined) next();
    else void answer(handler, request, originalUrl, response);
  };
  return Object.assign(listener, { close: () => handler.close() });
}

async function answer(
  handler: (request: Request, context: unknown) => Promise<Response>,
  request: IncomingMessage,
  url: string,
  response: ServerResponse,
): Promise<void> {
  const asked = requestOf(request, url);
  if (asked === undefined) {
    response.writeHead(400, { 'content-type': 'text/plain' }).end('this is not a request of the console\n');
    return;
  }
  const { status, headers, body } = await handler(asked, request);
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) response.end();
  // A page that is closed ends the stream.
  else await pipeline(Readable.fromWeb(body as never), response).catch(() => {});
}

/** `undefined`: its URL or its host is malformed. */
function requestOf(request: IncomingMessage, url: string): Request | undefined {
  const { method = 'GET', headers: given, socket } = request;
  const isEncrypted = (socket as { readonly encrypted?: boolean }).encrypted === true;
  const headers = new Headers();
  try {
    for (const [name, value] of Object.entries(given)) {
      if (name.startsWith(':')) continue; // of HTTP/2
      for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one);
    }
    const absolute = new URL(
      `${isEncrypted ? 'https' : 'http'}://${given.host ?? given[':authority'] ?? 'localhost'}${url}`,
    );
    const isRead = method === 'GET' || method === 'HEAD';
    const body = isRead
      ? {}
      : { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: 'half' };
    return new Request(absolute, { method, headers, ...body } as RequestInit);
  } catch {
    return undefined;
  }
}
