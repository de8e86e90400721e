import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { RealServer, ServerKind } from './servers/server.ts';
import type { Conversation, Request } from './wire/conversation.ts';
import { mysqlConversation } from './wire/mysql.ts';
import { postgresConversation } from './wire/postgres.ts';
import { redisConversation } from './wire/redis.ts';

const CONVERSATIONS: Readonly<Record<ServerKind, () => Conversation>> = {
  redis: redisConversation,
  postgres: postgresConversation,
  mariadb: mysqlConversation,
};

const DEFAULT_PORTS: Readonly<Record<ServerKind, number>> = { redis: 6379, postgres: 5432, mariadb: 3306 };

/** Which answers are lost, and how. */
export interface LossOptions {
  /** Only those to requests whose text, with statement and parameters, it takes. @default all */
  readonly matching?: (text: string) => boolean;
  /** To so many requests. @default 1 */
  readonly times?: number;
  /**
   * `cut`: the connection ends where the answer would have come. `silence`: it stays open, but the client hears nothing
   * any more; the server still hears the client. @default cut
   */
  readonly then?: 'cut' | 'silence';
}

interface Loss extends Required<Omit<LossOptions, 'matching'>> {
  readonly matching: (text: string) => boolean;
  left: number;
  lost(): void;
}

/** Stands between clients and a server, and does what networks do. Starts as a good one. */
export async function startProxy(server: Pick<RealServer, 'kind' | 'url'>): Promise<FaultProxy> {
  const proxy = new FaultProxy(server);
  await proxy.listen();
  return proxy;
}

/** See {@link startProxy}. */
export class FaultProxy {
  /**
   * The commands that clients have sent and that were passed on to the server. Redis: each request. PostgreSQL: simple
   * queries and executions. MariaDB: queries and executions of prepared statements. What drivers send when they connect
   * is among them where it is one of these (`HELLO`, `SET`). With parameters; what is no text is shown as latin1.
   */
  readonly commands: string[] = [];
  latencyMs = 0;
  readonly losses: Set<Loss> = new Set();
  #target: URL;
  readonly #kind: ServerKind;
  readonly #server: Server = createServer((client) => this.#accept(client));
  readonly #open: Set<ProxiedConnection> = new Set();
  #whole: Promise<void> = Promise.resolve();
  #heal: (() => void) | undefined;

  constructor({ kind, url }: Pick<RealServer, 'kind' | 'url'>) {
    this.#target = new URL(url);
    this.#kind = kind;
  }

  /** Where clients connect to, instead of to the server. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#open.size;
  }

  /** Resolves when nothing keeps the two sides apart. */
  get whole(): Promise<void> {
    return this.#whole;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
  }

  /**
   * Loses the answers to the next requests that match: they reach the server, which does what they ask for, and the
   * client never learns of it. Answers to requests before them on the same connection arrive.
   *
   * @returns resolves when as many have been lost.
   */
  loseReplies({ matching = () => true, times = 1, then = 'cut' }: LossOptions = {}): Promise<void> {
    return new Promise((resolve) => {
      let lost = 0;
      const onLost = (): void => {
        lost += 1;
        if (lost === times) resolve();
      };
      this.losses.add({ matching, times, then, left: times, lost: onLost });
    });
  }

  /** Nothing arrives any more, either way, ends of connections neither; it waits for `heal`. New connections open. */
  partition(): void {
    if (this.#heal !== undefined) return;
    this.#whole = new Promise((resolve) => {
      this.#heal = resolve;
    });
  }

  /** Ends `partition` (all that waited arrives, in its order), `latency` and losses that are still to come. */
  heal(): void {
    this.latencyMs = 0;
    this.losses.clear();
    this.#heal?.();
    this.#heal = undefined;
  }

  /** What is sent from now on, either way, arrives that many milliseconds later. */
  latency(ms: number): void {
    this.latencyMs = ms;
  }

  /** New connections reach another server of its kind from now on. */
  moveTo({ url }: Pick<RealServer, 'url'>): void {
    this.#target = new URL(url);
  }

  /** Ends all connections at once. New ones are taken. */
  cut(): void {
    for (const connection of this.#open) connection.cut();
  }

  /** Ends all connections and takes no new ones. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    this.heal();
    await closed;
  }

  #accept(client: Socket): void {
    const { hostname, port } = this.#target;
    const server = connect(Number(port) || DEFAULT_PORTS[this.#kind], hostname);
    const connection = new ProxiedConnection(this, client, server, CONVERSATIONS[this.#kind]());
    this.#open.add(connection);
    client.once('close', () => this.#open.delete(connection));
  }
}

/** A client's connection and ours to the server. */
class ProxiedConnection {
  readonly #proxy: FaultProxy;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #conversation: Conversation;
  #requested = 0;
  #answered = 0;
  /** The first answer that is not to arrive. */
  #loss: { readonly of: number; readonly loss: Loss } | undefined;

  constructor(proxy: FaultProxy, client: Socket, server: Socket, conversation: Conversation) {
    this.#proxy = proxy;
    this.#client = client;
    this.#server = server;
    this.#conversation = conversation;
    this.#carry(client, server, (bytes) => {
      for (const request of conversation.fromClient(bytes)) this.#onRequest(request);
      return bytes;
    });
    this.#carry(server, client, (bytes) => this.#heard(bytes));
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.destroy();
  }

  /** What is on its way to the client arrives before the end. */
  #end(): void {
    this.#client.destroySoon();
    this.#server.destroy();
  }

  /** Carries what one side sends to the other, in order, as late as the proxy wants. */
  #carry(from: Socket, to: Socket, pass: (bytes: Buffer) => Buffer): void {
    let last: Promise<void> = Promise.resolve();
    const later = (action: () => void): void => {
      const at = performance.now() + this.#proxy.latencyMs;
      last = last
        .then(() => until(at))
        .then(() => this.#proxy.whole)
        .then(action);
    };
    from.setNoDelay();
    from.on('data', (bytes: Buffer) => later(() => to.destroyed || to.write(pass(bytes))));
    from.on('end', () => later(() => to.end()));
    from.on('close', () => later(() => to.destroy()));
    from.on('error', () => {}); // `close` follows
  }

  #onRequest({ text, commands }: Request): void {
    this.#requested += 1;
    for (let i = 0; i < commands; i++) this.#proxy.commands.push(text);
    if (this.#loss !== undefined || commands === 0) return;
    for (const loss of this.#proxy.losses) {
      if (!loss.matching(text)) continue;
      loss.left -= 1;
      if (loss.left === 0) this.#proxy.losses.delete(loss);
      this.#loss = { of: this.#requested, loss };
      return;
    }
  }

  /** What of the server's bytes the client is to hear. */
  #heard(bytes: Buffer): Buffer {
    const ends = this.#conversation.fromServer(bytes);
    const before = this.#answered;
    this.#answered += ends.length;
    if (this.#loss === undefined) return bytes;
    const { of, loss } = this.#loss;
    // The end of the answer before it, if that is among these bytes; else all of them are behind it.
    const arrives = of - 1 > before ? (ends[of - 2 - before] ?? bytes.length) : 0;
    if (before < of && this.#answered >= of) {
      loss.lost();
      if (loss.then === 'cut') setImmediate(() => this.#end());
    }
    return bytes.subarray(0, arrives);
  }
}

async function until(at: number): Promise<void> {
  const ms = at - performance.now();
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
