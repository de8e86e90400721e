import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { onTestFinished } from 'vitest';
import type { SourceContext } from '../../../src/sources/index.ts';
import { localhostCertificate } from './localhost-certificate.ts';

/** A real server on loopback, which ends with the test. */
export interface Origin {
  readonly url: string;
  readonly port: number;
  /** Of each request its path and headers, in their order. */
  readonly requests: { readonly path: string; readonly headers: NodeJS.Dict<string | string[]> }[];
  /** How many connections are open now. */
  connections(): Promise<number>;
}

export async function startOrigin(
  listener: RequestListener,
  server: Server = createHttpServer(),
  scheme = 'http',
): Promise<Origin> {
  const requests: Origin['requests'] = [];
  server.on('request', (request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    response.on('error', () => {});
    listener(request, response);
  });
  const port = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  const connections = (): Promise<number> =>
    new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  return { url: `${scheme}://127.0.0.1:${port}`, port, requests, connections };
}

export function startHttpsOrigin(listener: RequestListener): Promise<Origin> {
  return startOrigin(listener, createHttpsServer(localhostCertificate) as unknown as Server, 'https');
}

/** A server that answers each connection with these bytes, whatever is asked, and ends it; or one that was here a moment ago. */
export async function startRawOrigin(answer: string, state?: 'closed'): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  if (state === 'closed') await new Promise((resolve) => server.close(resolve));
  return url;
}

async function listen(server: TcpServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The context of a load of a value that has `meta`; without it, of the first load. */
export function contextOf(
  meta?: Readonly<Record<string, unknown>>,
  signal: AbortSignal = new AbortController().signal,
): SourceContext {
  return { signal, previous: meta === undefined ? undefined : { value: 'before', loadedAt: 0, meta } };
}

export async function messageOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: Error) => error.message,
  );
}
