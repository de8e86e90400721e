import { ACTION_NAMES, type ActionName } from './action-names.ts';
import type { ActionRequest } from './actions.ts';

/** In characters. */
const LONGEST_NOTE = 500;

/** A year. */
const LONGEST_MS = 365 * 86_400_000;

/** An operator must not have a source asked all the time. */
const SHORTEST_EVERY_MS = 1000;

const FIELDS = [
  'id',
  'key',
  'lock',
  'here',
  'drop',
  'note',
  'version',
  'holdMs',
  'everyMs',
  'token',
  'digest',
  'present',
  'since',
];

/** They can be narrowed to this instance. The others concern it alone, or all instances. */
const NARROWED: readonly string[] = ['refresh', 'end-cool-down', 'invalidate', 'pause', 'resume'];

/** The request in a body; a text: why it is refused. Pure. */
export function actionRequest(
  action: string,
  body: { readonly [field: string]: unknown },
  by: string,
): ActionRequest | string {
  if (!ACTION_NAMES.includes(action as ActionName))
    return `unknown action (one of ${ACTION_NAMES.join(', ')})`;
  const unknown = Object.keys(body).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return `unknown field ${unknown.slice(0, 50)} (one of ${FIELDS.join(', ')})`;
  for (const field of ['id', 'key', 'digest'] as const) {
    const given = body[field];
    if (given !== undefined && typeof given !== 'string') return `${field} must be a text`;
  }
  const { here = false, drop = false, note, version, holdMs, everyMs, token, present, since } = body;
  if (typeof here !== 'boolean' || typeof drop !== 'boolean') return 'here and drop must be true or false';
  if (here && !NARROWED.includes(action)) return `${action} has no here: leave it out`;
  if (note !== undefined && !(typeof note === 'string' && note.length <= LONGEST_NOTE)) {
    return `note must be a text of at most ${LONGEST_NOTE} characters`;
  }
  for (const [field, given] of Object.entries({ version, token, present })) {
    if (given !== undefined && !(Number.isSafeInteger(given) && (given as number) > 0)) {
      return `${field} must be a whole number over 0`;
    }
  }
  if (since !== undefined && !Number.isFinite(since)) return 'since must be epoch milliseconds';
  for (const [field, given, least] of [
    ['holdMs', holdMs, 1],
    ['everyMs', everyMs, SHORTEST_EVERY_MS],
  ] as const) {
    const isDuration = typeof given === 'number' && given >= least && given <= LONGEST_MS;
    if (given !== undefined && !isDuration)
      return `${field} must be milliseconds from ${least} to ${LONGEST_MS}`;
  }
  // Each is there, also as `undefined`: others may have added to `Object.prototype`.
  const fields = Object.fromEntries(FIELDS.map((field) => [field, body[field]]));
  return { ...fields, action, by, here, drop } as unknown as ActionRequest;
}
