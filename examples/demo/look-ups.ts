import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import type { RefreshingValue } from 'tickless';
import type { PostalCodes } from './postal-codes.ts';
import { Reloads } from './reloads.ts';
import { Stopwatch } from './stopwatch.ts';

/** Stands for a promise that is not resolved yet. */
const WAITING = Symbol('waiting');

/** The HTTP side of a service: looks up postal codes in what is in memory, and measures how that goes. */
export class LookUps {
  readonly app: fastify.FastifyInstance = fastify();
  readonly reloads: Reloads;
  /** Of answers, no load running at their end. */
  readonly fresh: Stopwatch = new Stopwatch();
  /** Of answers, a load running at their end. */
  readonly reloading: Stopwatch = new Stopwatch();
  /** Of `get()` alone, on a value that was there. */
  readonly waits: Stopwatch = new Stopwatch();
  readonly #postalCodes: RefreshingValue<PostalCodes>;
  readonly #version: () => number | undefined;
  #oldestServed = 0;
  #waited = 0;

  /** @param version of what is served now. Never goes back. */
  constructor(postalCodes: RefreshingValue<PostalCodes>, version: () => number | undefined) {
    this.#postalCodes = postalCodes;
    this.#version = version;
    this.reloads = new Reloads(postalCodes);
    this.app.get<{ Params: { code: string } }>('/postal-codes/:code', async (request, reply) => {
      const { places } = await this.#read();
      const place = places.get(request.params.code);
      this.#tellAge(reply);
      return place ?? reply.code(404).send({ error: `no postal code ${request.params.code}` });
    });
    this.app.addHook('onResponse', async (_request, reply) => {
      (postalCodes.inspect().running ? this.reloading : this.fresh).record(reply.elapsedTime);
    });
  }

  /** The longest age of a value that was served, in milliseconds. */
  get oldestServed(): number {
    return this.#oldestServed;
  }

  /** How many reads of a value that was there had to wait for it: the promise was not resolved yet. */
  get waited(): number {
    return this.#waited;
  }

  /** @param port 0: any. @returns the port. */
  async listen(port: number): Promise<number> {
    await this.app.listen({ port, host: '127.0.0.1' });
    return (this.app.server.address() as AddressInfo).port;
  }

  async #read(): Promise<PostalCodes> {
    if (this.#postalCodes.peek() === undefined) return this.#postalCodes.get();
    const askedAt = performance.now();
    const reading = this.#postalCodes.get();
    // Of two promises that are resolved already the first one wins.
    if ((await Promise.race([reading, WAITING])) === WAITING) this.#waited += 1;
    const value = await reading;
    this.waits.record(performance.now() - askedAt);
    return value;
  }

  /** Tells the reader how old the data is, its version, and when a reload last ran: now, or so many ms ago. */
  #tellAge(reply: { header(name: string, value: unknown): unknown }): void {
    const { age = 0, state, running } = this.#postalCodes.inspect();
    this.#oldestServed = Math.max(this.#oldestServed, age);
    reply.header('x-age-ms', Math.round(age));
    reply.header('x-state', state);
    reply.header('x-version', this.#version() ?? '');
    reply.header('x-reloaded-ms-ago', running ? 0 : this.reloads.sinceEnd.toFixed(3));
  }
}
