import { answerTimeoutMs, timeoutSignal } from '../../cluster/time-limits.ts';
import { OptionChecks } from '../../option-checks.ts';
import { systemClock } from '../../time/clock.ts';
import type { DurationLike } from '../../time/duration.ts';
import { unlessAborted } from '../../time/on-abort.ts';
import { DateClock } from '../cas/date-clock.ts';

/** The options of the backend of etcd that concern its servers. */
export interface EtcdOptions {
  /**
   * The address of a server, or of several of one cluster: `'http://10.0.0.1:2379'`. Commands go to the first one; where it
   * does not answer, to the next, and so do those after it. Not empty.
   */
  readonly endpoints: string | readonly string[];
  /** The name of a user and its password, where the servers ask for them. @default none */
  readonly user?: { readonly name: string; readonly password: string } | undefined;
  /**
   * Sends the requests: one of a client with certificates of its own, say (`dispatcher` of undici). Called as the global
   * function is. @default the global `fetch`
   */
  readonly fetch?: EtcdFetch | undefined;
}

/** The used part of `fetch`. */
export type EtcdFetch = (
  url: string,
  init: { method: 'POST'; body: string; headers: Record<string, string>; signal: AbortSignal },
) => PromiseLike<EtcdResponse>;

/** The used part of a `Response`. */
export interface EtcdResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  json(): PromiseLike<unknown>;
}

/** An error that a server has answered with. https://grpc.github.io/grpc/core/md_doc_statuscodes.html */
export class EtcdError extends Error {
  readonly code: number | undefined;

  constructor(message: string, code: number | undefined) {
    super(message);
    this.code = code;
  }

  get isOfLease(): boolean {
    return this.code === NOT_FOUND;
  }

  /** Another token is needed: this one has expired, or (a JWT) users or roles were changed since it was given. */
  get isOfToken(): boolean {
    return this.code === UNAUTHENTICATED || OLD_REVISION.test(this.message);
  }
}

/** https://github.com/etcd-io/etcd/issues/13300 */
const OLD_REVISION = /revision of auth store is old|revision in header is old/;

const NOT_FOUND = 5;
const UNAUTHENTICATED = 16;
const UNAVAILABLE = 14;

/** Commands of etcd over HTTP with JSON, which each server of version 3.4 or newer takes under /v3. */
export class EtcdClient {
  readonly timeoutMs: number;
  readonly clock: DateClock = new DateClock(systemClock.monotonic);
  readonly #endpoints: readonly string[];
  readonly #user: EtcdOptions['user'];
  readonly #fetch: EtcdFetch;
  /** Of the endpoint that commands go to. */
  #at = 0;
  #token: Promise<string> | undefined;

  /** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
  constructor(options: EtcdOptions & { readonly timeout?: DurationLike | undefined }) {
    const { endpoints, user, fetch = globalThis.fetch as EtcdFetch, timeout } = options ?? {};
    const all: readonly string[] = typeof endpoints === 'string' ? [endpoints] : (endpoints ?? []);
    const checks = new OptionChecks('backend');
    const areUrls = all.length > 0 && all.every((one) => /^https?:[/][/]/.test(one));
    checks.that(areUrls, 'endpoints', "must be addresses such as 'http://localhost:2379'", endpoints);
    checks.function('fetch', fetch);
    if (user !== undefined) {
      checks.name('user.name', user?.name);
      checks.name('user.password', user?.password);
    }
    checks.done();
    this.#endpoints = all.map((one) => one.replace(/[/]+$/, ''));
    this.#user = user;
    this.#fetch = fetch;
    this.timeoutMs = answerTimeoutMs(timeout);
  }

  /**
   * Sends a command that may be applied twice: it is sent again where an endpoint does not answer.
   *
   * @param path without `/v3/`: `kv/range`.
   * @throws {EtcdError} with the answer of a server, or any error of `fetch`.
   */
  async send<R>(path: string, command: object): Promise<R> {
    const signal = timeoutSignal(this.timeoutMs);
    for (let tries = 1; ; tries += 1) {
      const at = this.#at;
      try {
        return (await this.#sendAs(at, path, command, signal)) as R;
      } catch (error) {
        if (error instanceof EtcdError && error.code !== UNAVAILABLE) throw error;
        // Unless a command that failed at the same time has turned to the next one already.
        if (this.#at === at) this.#at = (at + 1) % this.#endpoints.length;
        if (tries === this.#endpoints.length || signal.aborted) throw error;
      }
    }
  }

  /** A token of the servers expires: it is asked for again once. */
  async #sendAs(at: number, path: string, command: object, signal: AbortSignal): Promise<unknown> {
    if (this.#user === undefined) return this.#post(at, path, command, signal);
    const token = this.#authenticated();
    try {
      return await this.#post(at, path, command, signal, await unlessAborted(token, signal));
    } catch (error) {
      if (!(error instanceof EtcdError) || !error.isOfToken) throw error;
      if (this.#token === token) this.#token = undefined;
      return this.#post(at, path, command, signal, await unlessAborted(this.#authenticated(), signal));
    }
  }

  /** One request for all commands that need a token, with a time limit of its own. */
  #authenticated(): Promise<string> {
    this.#token ??= this.#authenticate().catch((error) => {
      this.#token = undefined;
      throw error;
    });
    return this.#token;
  }

  async #authenticate(): Promise<string> {
    const signal = timeoutSignal(this.timeoutMs);
    const answer = await this.#post(this.#at, 'auth/authenticate', { ...this.#user }, signal);
    return (answer as { token: string }).token;
  }

  async #post(
    at: number,
    path: string,
    command: object,
    signal: AbortSignal,
    token?: string,
  ): Promise<unknown> {
    const sentAt = this.clock.now();
    const request = this.#fetch(`${this.#endpoints[at]}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(command),
      headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: token }) },
      signal,
    });
    const response = await unlessAborted(request, signal);
    this.clock.learn(response.headers.get('date'), sentAt);
    const answer = await unlessAborted(response.json(), signal);
    if (response.ok) return answer;
    const { message, error, code } = (answer ?? {}) as { message?: string; error?: string; code?: number };
    throw new EtcdError(message ?? error ?? `the server has answered with status ${response.status}`, code);
  }
}
