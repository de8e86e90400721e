import type { Hints, StopListening } from '../../cluster/hint-contract.ts';
import { createHints } from '../../hints/create-hints.ts';
import { OptionChecks, ownOptions } from '../../option-checks.ts';
import type { RedisClient } from './client.ts';
import { isIoredis } from './client-kind.ts';

/** The used part of a client that sends hints: of ioredis or node-redis, also a cluster or a pool. */
export interface RedisPublisher {
  publish(channel: string, message: string): Promise<unknown>;
}

/** The used part of a subscriber of ioredis. */
export interface IoredisSubscriber {
  readonly status: string;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  off(event: 'message', listener: (channel: string, message: string) => void): unknown;
}

/** The used part of a subscriber of node-redis, which is connected. */
export interface NodeRedisSubscriber {
  // biome-ignore lint/suspicious/noExplicitAny: text here, but in the types of a cluster also bytes
  subscribe(channel: string, listener: (message: any) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  unsubscribe(channel: string, listener: (message: any) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  off(event: 'end', listener: () => void): unknown;
}

/** Its other events. The types of its package can't be assigned to several signatures of one method. */
interface Connection {
  /** Its socket, a new one for each connection; a cluster has none. */
  readonly stream?: { unref?(): void };
  on(event: 'connect' | 'end', listener: () => void): unknown;
  off(event: 'connect' | 'end', listener: () => void): unknown;
}

/** The options of {@link redisHints}. */
export interface RedisHintsOptions {
  /** Sends the hints: that of the store, say. */
  readonly client: RedisPublisher;
  /**
   * Listens for hints: another client than `client`, `client.duplicate()` say, because a connection with a subscription
   * takes no other commands. One of node-redis must be connected. It may have other subscriptions too.
   */
  readonly subscriber: IoredisSubscriber | NodeRedisSubscriber;
  /** Not empty. The same on all instances, and another one for each service. @default 'tickless:hints' */
  readonly channel?: string | undefined;
}

/**
 * Hints by publish and subscribe of Redis, for the option `hints` of stores.
 *
 * The subscriber is connected as long as you keep it. While a member with a `propagateWithin` is open it listens, and its
 * connection does not keep the process alive (`unref`), also after it was connected again; that of a cluster does, and an
 * attempt to connect may. Both packages connect and subscribe again by themselves. Hints that come meanwhile are lost,
 * and checks find the changes.
 *
 * The client needs the right for `publish`, the subscriber for `subscribe` and `unsubscribe`, both for the channel (`&tickless:hints`).
 *
 * ```ts no-run
 * import { Redis } from 'ioredis';
 * import { redisBackend, redisHints } from 'tickless/redis';
 *
 * const client = new Redis();
 * const subscriber = client.duplicate();
 * const backend = redisBackend({ client, hints: redisHints({ client, subscriber }) });
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function redisHints(options: RedisHintsOptions): Hints {
  const { client, subscriber, channel = 'tickless:hints' } = ownOptions(options ?? ({} as typeof options));
  const checks = new OptionChecks('hints');
  checks.names('', options ?? {}, ['client', 'subscriber', 'channel']);
  checks.methods('client', client, ['publish']);
  checks.methods('subscriber', subscriber, ['subscribe', 'unsubscribe', 'on', 'off']);
  const isApart = (client as unknown) !== subscriber;
  checks.that(isApart, 'subscriber', 'must be another client than client', subscriber);
  checks.name('channel', channel);
  checks.done();
  return createHints({
    send: (text) => client.publish(channel, text),
    listen: (onMessage, onEnd) =>
      isIoredis(subscriber as unknown as RedisClient)
        ? withIoredis(subscriber as IoredisSubscriber, channel, onMessage, onEnd)
        : withNodeRedis(subscriber as NodeRedisSubscriber, channel, onMessage, onEnd),
  });
}

async function withIoredis(
  subscriber: IoredisSubscriber,
  channel: string,
  onMessage: (text: string) => void,
  onEnd: () => void,
): Promise<StopListening> {
  const connection = subscriber as unknown as Connection;
  const unref = (): void => connection.stream?.unref?.();
  const received = (on: string, text: string): void => {
    if (on === channel) onMessage(text);
  };
  const forget = (): void => {
    subscriber.off('message', received);
    connection.off('connect', unref);
    connection.off('end', ended);
  };
  const ended = (): void => {
    forget();
    onEnd();
  };
  unref();
  subscriber.on('message', received);
  connection.on('connect', unref);
  connection.on('end', ended);
  try {
    await subscriber.subscribe(channel);
  } catch (error) {
    forget();
    throw error;
  }
  return () => {
    forget();
    return subscriber.unsubscribe(channel);
  };
}

async function withNodeRedis(
  subscriber: NodeRedisSubscriber,
  channel: string,
  onMessage: (text: string) => void,
  onEnd: () => void,
): Promise<StopListening> {
  const received = (text: string): void => onMessage(text);
  const ended = (): void => {
    subscriber.off('end', ended);
    onEnd();
  };
  (subscriber as { unref?(): void }).unref?.();
  await subscriber.subscribe(channel, received);
  subscriber.on('end', ended);
  return () => {
    subscriber.off('end', ended);
    return subscriber.unsubscribe(channel, received);
  };
}
