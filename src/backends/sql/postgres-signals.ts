import type { Signals, StopListening } from '../../cluster/signal-contract.ts';
import { OptionChecks } from '../../option-checks.ts';
import { createSignals } from '../../signals/create-signals.ts';

/** The used part of a connected `Client` of the package `pg`, version 8. */
export interface PostgresListener {
  query(command: { text: string; values: unknown[] }): PromiseLike<unknown>;
  on(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
  removeListener(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
}

/** The used part of a notification of `pg`. */
interface PostgresNotification {
  channel: string;
  payload?: string | undefined;
}

/** Its other members. The types of its package can't be assigned to several signatures of one method. */
interface Ending {
  on(event: 'end', listener: () => void): unknown;
  removeListener(event: 'end', listener: () => void): unknown;
  unref?(): void;
}

const ending = (client: PostgresListener): Ending => client as unknown as Ending;

/** A connected `Client` of `pg`, or a function that connects one. */
export type PostgresListening = PostgresListener | (() => PostgresListener | PromiseLike<PostgresListener>);

/**
 * Signals by `LISTEN` and `NOTIFY` of PostgreSQL. Those that come while there is no connection are lost, and checks find the changes.
 *
 * @param channel at most 63 bytes long: PostgreSQL cuts longer identifiers.
 * @throws {TicklessError} `OPTION` when it is not such a client.
 */
export function postgresSignals(client: PostgresListening, channel: string): Signals {
  if (typeof client !== 'function') {
    const checks = new OptionChecks('backend');
    checks.methods('signals', client, ['query', 'on', 'removeListener']);
    const isPool = typeof (client as { totalCount?: unknown } | undefined)?.totalCount === 'number';
    const rule = 'must be a Client, not a Pool: LISTEN needs a connection of its own';
    checks.that(!isPool, 'signals', rule, client);
    checks.done();
  }
  const connection = new Connection(client);
  const quoted = `"${channel.replaceAll('"', '""')}"`;
  return createSignals({
    async send(text) {
      const connected = await connection.open();
      await connected.query({ text: 'SELECT pg_notify($1, $2)', values: [channel, text] });
    },
    async listen(onMessage, onEnd): Promise<StopListening> {
      const connected = await connection.open();
      const received = (message: PostgresNotification): void => {
        if (message.channel === channel) onMessage(message.payload ?? '');
      };
      const forget = (): void => {
        connected.removeListener('notification', received);
        ending(connected).removeListener('end', ended);
      };
      const ended = (): void => {
        forget();
        onEnd();
      };
      connected.on('notification', received);
      ending(connected).on('end', ended);
      try {
        await connected.query({ text: `LISTEN ${quoted}`, values: [] });
      } catch (error) {
        forget();
        throw error;
      }
      return () => {
        forget();
        return connected.query({ text: `UNLISTEN ${quoted}`, values: [] });
      };
    },
  });
}

/** The connection under way or open; that of a function is made anew when it has ended. */
class Connection {
  readonly #client: PostgresListening;
  #opened: Promise<PostgresListener> | undefined;

  constructor(client: PostgresListening) {
    this.#client = client;
  }

  open(): Promise<PostgresListener> {
    if (this.#opened !== undefined) return this.#opened;
    const opened = this.#open();
    const forget = (): void => {
      if (this.#opened === opened) this.#opened = undefined;
    };
    this.#opened = opened;
    opened.then((client) => ending(client).on('end', forget), forget);
    return opened;
  }

  async #open(): Promise<PostgresListener> {
    const client = await (typeof this.#client === 'function' ? this.#client() : this.#client);
    ending(client).unref?.();
    return client;
  }
}
