import { isTicklessError, TicklessError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';

/** The error of a member whose backend could not be used. */
export function unavailable(thrown: unknown, member: string, key?: unknown): TicklessError {
  const cause = unavailableCause(thrown);
  return new TicklessError('BACKEND_DOWN', `the backend is unavailable: ${messageOf(cause)}`, {
    member,
    key,
    cause,
  });
}

/** The error of the client, for an error or a line that names the lock or store itself. */
export function unavailableCause(thrown: unknown): unknown {
  return isTicklessError(thrown, 'BACKEND_DOWN') ? (thrown.cause ?? thrown) : thrown;
}
