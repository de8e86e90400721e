import type { MemberRow } from './rows.ts';

/** An error as a place of a page says it: in full, or by where it is in full. */
export type SayError = (error: string) => string;

/**
 * A page of a member says an error in full once: with its problems at the top, else as its last error. Everything else that
 * happened because of it points there. Pure.
 *
 * @param lastError of the member or the key; `undefined`: there is none.
 */
export function errorSayer(
  name: string,
  problems: MemberRow['problems'],
  lastError: string | undefined,
): SayError {
  const atTop = new Set(problems.map(({ cause, message }) => coreOf(name, cause ?? message)));
  const last = lastError === undefined ? undefined : coreOf(name, lastError);
  return (error) => {
    const core = coreOf(name, error);
    if (atTop.has(core)) return 'as at the top';
    return core === last ? 'the last error' : error;
  };
}

/** Without what each error of a member begins with: its name, its key, and that a load has failed. */
function coreOf(name: string, error: string): string {
  const own = error.startsWith(name) ? error.slice(name.length).replace(/^(\[.*?\])?: /s, '') : error;
  return own.replace(/^load failed: /, '');
}
