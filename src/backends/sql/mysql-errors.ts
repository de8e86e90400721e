import { propertyOf } from './client.ts';

// https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html, https://mariadb.com/kb/en/mariadb-error-code-reference/

export const PARSE_ERROR = 1064;
export const NO_SUCH_TABLE = 1146;
/** The server closes the connection after this error. */
const PACKET_TOO_LARGE = 1153;

/** Errors of concurrent changes of one row: a wait that was too long, a deadlock, and "record has changed" of MariaDB 11. */
const CONTENTION = [1205, 1213, 1020];

/** Errors of values: out of range, invalid, too long, and a statement that is too large. */
const OF_VALUES = [1264, 1366, 1406, PACKET_TOO_LARGE];

/** SET TRANSACTION was refused: a transaction is open. */
const IN_TRANSACTION = 1568;

/**
 * The server is not, or no longer, one that takes writes, or is about to end the connection. After a fail-over a new connection may
 * reach another server.
 */
const NOT_THIS_SERVER = [
  1047, // Galera: the node is not ready
  1053, // shuts down
  1290, // --read-only, --super-read-only
  1792, // a transaction that is read-only
  1836, // innodb_read_only
  1927, // MariaDB: killed
  3032, // offline mode
  3100, // group replication: a hook refused the commit
  3101, // group replication: rolled back during the commit
  3169, // MySQL: killed
  4031, // idle for too long
] as const;

/** The setting of the session that is at fault, by the error. */
const REMEDIES: Readonly<Record<number, string>> = {
  1792: 'the session is read-only, expected SET SESSION TRANSACTION READ WRITE',
};

const NO_AUTOCOMMIT =
  'autocommit is off, or a transaction is open, so that nothing would be written; expected SET autocommit = 1 in the sessions of this client, or a pool of its own';

/** Of a connection on which nothing is committed by itself. */
class NoAutocommitError extends Error {
  constructor(cause?: unknown) {
    super(NO_AUTOCOMMIT, { cause });
  }
}

/** In the status of a session. */
const AUTOCOMMIT = 2;

/** @throws where the session does not commit by itself: `result` is that of one of its commands. */
export function throwWithoutAutocommit(result: unknown): void {
  const header = (Array.isArray(result) ? result.at(-1) : result) as { readonly serverStatus?: unknown };
  const status = header?.serverStatus;
  if (typeof status === 'number' && (status & AUTOCOMMIT) === 0) throw new NoAutocommitError();
}

/** The error of a statement, with the line to change where the session is at fault. */
export function explained(error: unknown): unknown {
  const errno = propertyOf(error, 'errno') as number;
  if (errno === IN_TRANSACTION) return new NoAutocommitError(error);
  const remedy = REMEDIES[errno];
  if (remedy !== undefined && error instanceof Error) error.message += ` (${remedy})`;
  return error;
}

export function isContention(error: unknown): boolean {
  return isOneOf(CONTENTION, error);
}

export function isOfValues(error: unknown): boolean {
  return isOneOf(OF_VALUES, error);
}

/** Whether a connection is unusable after an error, or soon will be. */
export function isBroken(error: unknown): boolean {
  if (propertyOf(error, 'fatal') || error instanceof NoAutocommitError) return true;
  if (isOneOf([PACKET_TOO_LARGE, ...NOT_THIS_SERVER], error)) return true;
  return propertyOf(error, 'code') === 'PROTOCOL_SEQUENCE_TIMEOUT';
}

function isOneOf(errnos: readonly number[], error: unknown): boolean {
  return errnos.some((errno) => errno === propertyOf(error, 'errno'));
}
