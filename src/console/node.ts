// The console on `node:http`, and on what is built on it: Express, Connect, Fastify with middie.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RefreshGroup } from '../index.ts';
import { ownOptions } from '../option-checks.ts';
import { consoleHandler } from './console-handler.ts';
import type { ConsoleOptions } from './console-options.ts';

/** Answers requests of `node:http`. */
export interface NodeConsole {
  /**
   * Answers a request, as `request` listener of a server, or mounted with `app.use(console)` of Express. A request for
   * another path goes to `next`, or is answered with 404 without it. `authorize` gets the request of Node as `context`.
   * Where a parser has read the body before, its result is taken from `request.body`.
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
 * @throws {TicklessError} `OPTION` naming every option that breaks a rule.
 */
export function nodeConsole(group: RefreshGroup, options?: ConsoleOptions): NodeConsole {
  const handler = consoleHandler(group, options);
  const base = (ownOptions(options)?.path ?? '/tickless').replace(/\/+$/, '');
  const listener: (...args: Parameters<NodeConsole>) => void = (request, response, next) => {
    // Frameworks strip the path at which they mount from `url`.
    const { originalUrl = request.url ?? '/' } = request as IncomingMessage & {
      readonly originalUrl?: string;
    };
    const isOurs = originalUrl.split('?')[0] === base || originalUrl.startsWith(`${base}/`);
    // A path that leads here by its dots may have passed a proxy as another one.
    if (isOurs) void answer(handler, request, originalUrl, response);
    else if (next !== undefined) next();
    else response.writeHead(404, PLAIN).end('there is nothing here\n');
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
    response.writeHead(400, PLAIN).end('this is not a request of the console\n');
    return;
  }
  try {
    await send(await handler(asked, request), response);
  } catch {
    // The page was closed, or a response of `authorize` can't be sent: it was sent before, or it has no status.
    if (response.headersSent) response.destroy();
    else response.writeHead(500, PLAIN).end('the response can not be sent\n');
  }
  request.resume(); // a body that was not read would keep the connection busy
}

async function send({ status, headers, body }: Response, response: ServerResponse): Promise<void> {
  const content = body === null ? undefined : Readable.fromWeb(body as never);
  // One line for each: a login may set two cookies.
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.writeHead(status);
  if (content === undefined) response.end();
  else await pipeline(content, response);
}

const PLAIN = { 'content-type': 'text/plain' };

/** A name or an address, with a port or without: one with a slash would become a part of the path. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The body, read as far as it is asked for. `Readable.toWeb` throws where the rest of a cancelled one arrives. */
function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = request.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The body as text, where a parser has read it before (`express.json()`); `undefined`: none has. Throws where it is not JSON. */
function parsedBody(request: IncomingMessage): string | Uint8Array<ArrayBuffer> | undefined {
  const { body } = request as IncomingMessage & { readonly body?: unknown };
  if (!request.readableEnded || body === undefined) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body as string | Uint8Array<ArrayBuffer>;
  return JSON.stringify(body);
}

/** `undefined`: its URL or its host is malformed. */
function requestOf(request: IncomingMessage, url: string): Request | undefined {
  const { method = 'GET', headers: given, socket } = request;
  const isEncrypted = (socket as { readonly encrypted?: boolean }).encrypted === true;
  const headers = new Headers();
  const host = given.host ?? String(given[':authority'] ?? 'localhost');
  if (!HOST.test(host)) return undefined;
  try {
    for (const [name, value] of Object.entries(given)) {
      if (name.startsWith(':')) continue; // of HTTP/2
      for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one);
    }
    const absolute = new URL(`${isEncrypted ? 'https' : 'http'}://${host}${url}`);
    const isRead = method === 'GET' || method === 'HEAD';
    const body = isRead ? {} : { body: parsedBody(request) ?? bodyOf(request), duplex: 'half' };
    return new Request(absolute, { method, headers, ...body } as RequestInit);
  } catch {
    return undefined;
  }
}
