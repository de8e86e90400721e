import { createServer } from 'node:net';

// Below those that systems give to outgoing connections. A client that tries again and again to reach such a port,
// while nobody listens there, ends up connected to itself.
const FIRST = 20_000;
const COUNT = 12_000;

/** A port of 127.0.0.1 on which nobody listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
