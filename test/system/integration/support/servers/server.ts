/** The engines that all test files share, and whose wire the tests know. */
export type ServerKind = 'redis' | 'postgres' | 'mariadb';

/** The engines that the tests start. */
export type RealServerKind = ServerKind | 'etcd' | 'dynalite' | 's3rver' | 'pgbouncer' | 'sentinel';

/** A server of our own: a direct child of this process, on a port of its own, with its data in a temporary directory. */
export interface RealServer<K extends RealServerKind = ServerKind> {
  readonly kind: K;
  /** How people call it. */
  readonly label: string;
  /** As its version tells it. */
  readonly version: string;
  readonly url: string;
  /** Of 127.0.0.1. Stays the same over restarts. */
  readonly port: number;
  /** The last lines that it has printed. */
  readonly log: string;
  /** Stops all of its processes where they stand: it answers nothing, and its port still takes connections. */
  freeze(): void;
  /** Lets it go on after `freeze`. */
  thaw(): void;
  /** `freeze`, and `thaw` after that many milliseconds. Resolves after the thaw. */
  freezeFor(ms: number): Promise<void>;
  /** Kills all of its processes, frozen or not. Resolves when they are gone and the port refuses connections. */
  kill(): Promise<void>;
  /**
   * Starts it on the same port after `kill`, or kills it and starts it. Resolves when it takes commands.
   *
   * @param empty as if newly installed: without tables, records or scripts. @default false: with what it held
   */
  restart(options?: { readonly empty?: boolean }): Promise<void>;
  /**
   * How many commands clients have sent, by the server's own count; those that this asks for itself are left out. Only
   * the difference of two calls means something. Starts anew with a restart. What a command does inside of the server
   * (the calls of a script, the statements of a function) is not counted. What counts as a command:
   *
   * - Redis: what `MONITOR` shows, but what scripts call. Thus also what clients send when they connect (`HELLO`,
   *   `CLIENT SETINFO`, `INFO`), and not what is refused unread (an unknown command).
   * - PostgreSQL: each statement in its log (`log_statement = all`), thus one for a simple query, one for an execution
   *   of the extended protocol; no parsing, binding, syncing, and no statement with a syntax error.
   * - MariaDB: its status variable `Questions`: each query and each execution of a prepared statement; no preparing, no
   *   pings.
   */
  commandsServed(): Promise<number>;
  /** Ends it and removes its data. Again: does nothing. */
  close(): Promise<void>;
}

/** How a server is started. */
export interface StartOptions {
  /** Further arguments of its program. */
  readonly args?: readonly string[];
}
