import type { Hints, StopListening } from '../../cluster/hint-contract.ts';
import { createHints } from '../../hints/create-hints.ts';
import { OptionChecks, ownOptions } from '../../option-checks.ts';

/** The used part of a connected `Client` of the package `pg`, version 8. */
export interface PostgresListener {
  query(command: { text: string; values: unknown[] }): PromiseLike<unknown>;
  on(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
  removeListener(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
}

/** The used part of a notification of `pg`. */
export interface PostgresNotification {
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

/** The options of {@link postgresHints}. */
export interface PostgresHintsOptions {
  /**
   * A connected `Client` of `pg` for hints alone, which sends and listens; or a function that connects one and returns it,
   * or a promise of it. A `Client` does not connect again when its connection is lost: the function is called again then,
   * at the next check or hint. You keep ownership: add an `error` listener, as `pg` requires, and end it yourself. Not a
   * `Pool`: `LISTEN` needs a connection of its own; nor through PgBouncer in transaction mode.
   */
  readonly client: PostgresListener | (() => PostgresListener | PromiseLike<PostgresListener>);
  /** 1 to 63 bytes. The same on all instances, and another one for each service. @default 'tickless_hints' */
  readonly channel?: string | undefined;
}

/** Longer identifiers are cut. */
const LONGEST_CHANNEL = 63;

/**
 * Hints by `LISTEN` and `NOTIFY` of PostgreSQL, for the option `hints` of stores.
 *
 * The client is connected as long as you keep it. While a member with a `propagateWithin` is open it listens; from its first
 * use on its connection does not keep the process alive (`unref`). Hints that come while there is no connection are lost,
 * and checks find the changes. Give it `keepAlive: true`, so that it notices a connection that has gone silent, and a
 * `connectionTimeoutMillis`: an attempt to connect that never ends is waited for.
 *
 * ```ts no-run
 * import pg from 'pg';
 * import { postgresBackend, postgresHints } from 'tickless/postgres';
 *
 * async function connect() {
 *   const client = new pg.Client({ keepAlive: true, connectionTimeoutMillis: 1000 });
 *   client.on('error', () => {}); // tickless logs it, and connects again
 *   await client.connect();
 *   return client;
 * }
 * const hints = postgresHints({ client: connect });
 * const backend = postgresBackend({ client: new pg.Pool(), hints });
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function postgresHints(options: PostgresHintsOptions): Hints {
  const { client, channel = 'tickless_hints' } = ownOptions(options ?? ({} as typeof options));
  const checks = new OptionChecks('hints');
  checks.names('', options ?? {}, ['client', 'channel']);
  if (typeof client !== 'function') {
    checks.methods('client', client, ['query', 'on', 'removeListener']);
    const isPool = typeof (client as { totalCount?: unknown } | undefined)?.totalCount === 'number';
    checks.that(
      !isPool,
      'client',
      'must be a Client, not a Pool: LISTEN needs a connection of its own',
      client,
    );
  }
  checks.name('channel', channel);
  const isShort = new TextEncoder().encode(String(channel)).length <= LONGEST_CHANNEL;
  checks.that(isShort, 'channel', `must be at most ${LONGEST_CHANNEL} bytes long`, channel);
  checks.done();
  const connection = new Connection(client);
  const quoted = `"${channel.replaceAll('"', '""')}"`;
  return createHints({
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
  readonly #client: PostgresHintsOptions['client'];
  #opened: Promise<PostgresListener> | undefined;

  constructor(client: PostgresHintsOptions['client']) {
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
