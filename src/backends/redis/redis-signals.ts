import type { Signals, StopListening } from '../../cluster/signal-contract.ts';
import { OptionChecks } from '../../option-checks.ts';
import { createSignals } from '../../signals/create-signals.ts';
import type { RedisClient } from './client.ts';
import { isIoredis } from './client-kind.ts';

/** The used part of a client that sends signals. */
interface RedisPublisher {
  publish(channel: string, message: string): Promise<unknown>;
}

/** The used part of a subscriber of ioredis. */
interface IoredisSubscriber {
  readonly status: string;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  off(event: 'message', listener: (channel: string, message: string) => void): unknown;
}

/** The used part of a subscriber of node-redis, which is connected. */
interface NodeRedisSubscriber {
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

/** A client that listens: another one than the client of the backend, as a connection with a subscription takes no other commands. */
export type RedisSubscriber = IoredisSubscriber | NodeRedisSubscriber;

/**
 * Signals by publish and subscribe of Redis. Both packages connect and subscribe again by themselves. Signals that come meanwhile are
 * lost, and checks find the changes.
 *
 * @throws {TicklessError} `OPTION` when one of both is not such a client.
 */
export function redisSignals(client: RedisPublisher, subscriber: RedisSubscriber, channel: string): Signals {
  const checks = new OptionChecks('backend');
  checks.methods('client', client, ['publish']);
  checks.methods('signals', subscriber, ['subscribe', 'unsubscribe', 'on', 'off']);
  const isApart = (client as unknown) !== subscriber;
  checks.that(isApart, 'signals', 'must be another client than client', subscriber);
  checks.done();
  return createSignals({
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
