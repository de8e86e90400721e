import { answerTimeoutMs, commandTimeoutMs, DEFAULT_TIMEOUT_MS } from '../../cluster/time-limits.ts';
import { warnWithoutErrorListener } from '../../drivers/error-listener.ts';
import { warnOnce } from '../../drivers/warn-once.ts';
import { OptionChecks } from '../../option-checks.ts';
import { RETENTION } from '../../records/records-kind.ts';
import { systemClock } from '../../time/clock.ts';
import { type DurationLike, toMillis } from '../../time/duration.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import type { IoredisClient, RedisClient, RedisConnection } from './client.ts';
import { isIoredis, isNodeRedis } from './client-kind.ts';
import { IoredisConnection } from './ioredis.ts';
import { NodeRedisConnection } from './node-redis.ts';
import type { NameCall, Script } from './script.ts';
import { SlotAnswers } from './slot-answers.ts';

/** Options of a Redis lock or store, as far as they concern its hashes. */
export interface RedisHashesOptions {
  readonly client: RedisClient;
  readonly prefix?: string | undefined;
  readonly timeout?: DurationLike | undefined;
  readonly retention?: DurationLike | undefined;
}

/** The beginning of all keys, unless the user chooses another one. */
export const PREFIX = 'tickless:';

/** The hashes of a backend: one key per name. */
export class RedisHashes {
  readonly retentionMs: number;
  /** How long the answer to a command is waited for, in milliseconds. */
  readonly timeoutMs: number;
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #slots: SlotAnswers;
  readonly #timeout: DurationLike;
  #isSlotted = false;

  /** @throws {TicklessError} `OPTION` when one of these options breaks a rule; `createLock` and `createStore` check the common ones. */
  constructor(options: RedisHashesOptions) {
    const { client, prefix = PREFIX, retention = RETENTION, timeout = DEFAULT_TIMEOUT_MS } = options ?? {};
    const checks = new OptionChecks('backend');
    const isClient = isIoredis(client) || isNodeRedis(client);
    checks.that(
      isClient,
      'client',
      'must be a client, a cluster or a sentinel client of ioredis or node-redis',
      client,
    );
    checks.that(typeof prefix === 'string', 'prefix', 'must be a string', prefix);
    this.retentionMs = checks.duration('retention', retention);
    checks.done();
    // ioredis logs such errors, and goes on.
    if (isNodeRedis(client)) warnWithoutErrorListener(client, "client.on('error', () => {})");
    if (isIoredis(client) && staysWithReplica(client))
      warnOnce(
        'the client of ioredis has no reconnectOnError, so it stays with its server when that has become a replica. Add: reconnectOnError: ({ message }) => message.startsWith("READONLY")',
      );
    this.#connection = isIoredis(client) ? IoredisConnection.of(client) : new NodeRedisConnection(client);
    this.#prefix = prefix;
    this.#slots = new SlotAnswers(toMillis(timeout));
    this.#timeout = timeout;
    this.timeoutMs = answerTimeoutMs(timeout);
  }

  /** The server is a cluster, and the hashes are in several slots: one script can't access them all. */
  get isSlotted(): boolean {
    return this.#isSlotted;
  }

  /**
   * Runs a script on the hashes of several names: one command, or one per slot of a cluster. Its `ARGV` are `args`.
   *
   * @param patience how long the slots of a cluster may be silent after the first answers, as a part of the time-out.
   * @param isOfLease as of {@link commandTimeoutMs}.
   * @returns the reply for each name; an `Error`: that name alone has failed, or those of its slot. Rejects where all have.
   */
  async runMany(
    script: Script,
    calls: readonly NameCall[],
    patience: number,
    isOfLease: boolean,
  ): Promise<unknown[]> {
    if (!this.#isSlotted) {
      try {
        return await this.#send(script, calls, isOfLease);
      } catch (error) {
        if (!isCrossSlot(error)) throw error;
        this.#isSlotted = true; // found before the script has run
      }
    }
    const groups = new Map<string, number[]>();
    for (const [index, { name }] of calls.entries()) {
      const tag = hashTagOf(this.#connection.keyPrefix + this.#prefix + name);
      groups.set(tag, [...(groups.get(tag) ?? []), index]);
    }
    const slots = [...groups.values()];
    const ask = (indexes: readonly number[]): Promise<unknown[]> =>
      this.#send(
        script,
        indexes.map((index) => calls[index] as NameCall),
        isOfLease,
      );
    const answers = await this.#slots.of(slots, ask, patience);
    const replies: unknown[] = [];
    for (const [at, indexes] of slots.entries()) {
      const answer = answers[at] as unknown[] | Error;
      for (const [i, index] of indexes.entries())
        replies[index] = answer instanceof Error ? answer : answer[i];
    }
    return replies;
  }

  #send(script: Script, calls: readonly NameCall[], isOfLease: boolean): Promise<unknown[]> {
    const keyed = calls.map(({ name, args }) => ({ key: this.#prefix + name, args }));
    return this.#inTime((signal) => script.run(this.#connection, keyed, signal), isOfLease);
  }

  /** The policy by which a server evicts keys of the lock when its memory is full; `undefined`: no server does. */
  evictionPolicy(): Promise<string | undefined> {
    return this.#inTime(async (signal) => {
      const masters = await this.#connection.masters(signal);
      const infos = await Promise.all(masters.map((send) => send('info', 'memory')));
      return infos.map((info) => evictionPolicyOf(String(info))).find((policy) => policy !== undefined);
    });
  }

  /** Aborts a step when its caller may have stopped waiting, so that its commands are not sent later. One that is sent goes on. */
  async #inTime<R>(step: (signal: AbortSignal) => Promise<R>, isOfLease: boolean = false): Promise<R> {
    const controller = new AbortController();
    const timer = systemClock.setTimeout(
      () => controller.abort(),
      commandTimeoutMs(this.#timeout, isOfLease),
    );
    try {
      return await withTimeout(() => step(controller.signal), this.timeoutMs);
    } catch (error) {
      controller.abort();
      throw error;
    } finally {
      timer.cancel();
    }
  }
}

/** A cluster follows redirections, and Sentinel closes the connections to a primary that it has replaced. */
function staysWithReplica({ options }: IoredisClient): boolean {
  const { sentinels, reconnectOnError } = (options ?? {}) as {
    readonly sentinels?: unknown;
    readonly reconnectOnError?: unknown;
  };
  return reconnectOnError === null && !sentinels;
}

/** The script has keys of several slots. */
function isCrossSlot(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('CROSSSLOT');
}

/** The part of a key that determines its slot: two keys with the same part share a slot. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags */
function hashTagOf(key: string): string {
  const begin = key.indexOf('{');
  const end = key.indexOf('}', begin + 1);
  return begin >= 0 && end > begin + 1 ? key.slice(begin + 1, end) : key;
}

/** @param info the answer of `INFO memory`. */
function evictionPolicyOf(info: string): string | undefined {
  const isLimited = /^maxmemory:[1-9]/m.test(info);
  const policy = /^maxmemory_policy:([a-z-]+)/m.exec(info)?.[1];
  return isLimited && policy !== 'noeviction' ? policy : undefined;
}
