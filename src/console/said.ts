import { isToldBy, outagesOf } from './causes.ts';
import type { MemberRow } from './rows.ts';

/** An error as a place of a page says it: in full, or by where it is in full. */
export type SayError = (error: string) => string;

/**
 * A page of a member says an error in full once: with its problems at the top, else as its last error. Everything else that
 * happened because of it points there. Pure.
 *
 * @param row of the member; `undefined`: the page shows no problems.
 * @param lastError of the member or the key; `undefined`: there is none.
 */
export function errorSayer(
  name: string,
  row: MemberRow | undefined,
  lastError: string | undefined,
): SayError {
  const outages = row === undefined ? [] : outagesOf([row]);
  const atTop = new Set(row?.problems.map(({ cause, message }) => cause ?? message));
  const last = lastError === undefined ? undefined : formsOf(name, lastError).at(-1);
  return (error) => {
    const forms = formsOf(name, error);
    if (forms.some((form) => isToldBy(outages, form))) return 'no answer, as at the top';
    if (forms.some((form) => atTop.has(form))) return 'as at the top';
    return last !== undefined && forms.includes(last) ? 'the last error' : error;
  };
}

/** The error, and without what errors begin with: the name of the member, its key, and that a load has failed. */
function formsOf(name: string, error: string): readonly string[] {
  const own = error.startsWith(name) ? error.slice(name.length).replace(/^(\[.*?\])?: /s, '') : error;
  return [error, error.replace(LOAD_FAILED, ''), own, own.replace(LOAD_FAILED, '')];
}

const LOAD_FAILED = /^load failed: /;
