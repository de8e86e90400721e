import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a source of data fares. */
export type Mood = 'sound' | 'failing' | 'hanging' | 'resetting' | 'slow';

/** The source of all data: each tenth key is one that it does not have. */
export class Origin {
  mood: Mood = 'sound';
  requests = 0;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async #answer({ url, socket }: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    switch (this.mood) {
      case 'failing':
        response.writeHead(503).end();
        return;
      case 'hanging':
        return;
      case 'resetting':
        socket.resetAndDestroy();
        return;
      case 'slow':
        await sleep(300);
    }
    if (/0$/.test(url ?? '')) response.writeHead(404).end();
    else if (this.requests % 5 === 0) response.writeHead(304).end();
    else response.end(JSON.stringify({ id: this.requests, words: new Array(64).fill(this.requests) }));
  }

  /** Those whom it left hanging are cut off. */
  change(mood: Mood): void {
    if (this.mood === 'hanging') this.#server.closeAllConnections();
    this.mood = mood;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
