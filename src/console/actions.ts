import type { LockProvider } from '../cluster/lock-contract.ts';
import {
  type GroupMember,
  isTicklessError,
  type PeriodicExecutor,
  type RefreshingCache,
  type RefreshingValue,
} from '../index.ts';
import { showDuration } from '../time/show-duration.ts';
import { ACTION_NAMES, type ActionName } from './action-names.ts';
import { seenVersion, throwUnlessInPlace, throwUnlessRunning } from './as-seen.ts';
import { Refusal } from './refusals.ts';

/** An action, with its arguments checked. */
export interface ActionRequest {
  readonly action: ActionName;
  readonly by: string;
  /** On this instance only. */
  readonly here: boolean;
  /** Forget the value too. */
  readonly drop: boolean;
  readonly note: string | undefined;
  /** Of `rollback`. */
  readonly version: number | undefined;
  /** Of `rollback` and `pin`, in milliseconds; `undefined`: until it is unpinned. */
  readonly holdMs: number | undefined;
  /** Of `reschedule`, in milliseconds. */
  readonly everyMs: number | undefined;
  /** Of `release-lock`: that of the holder that was shown. */
  readonly token: number | undefined;
  /** Of `refresh`: that of the refused value that was shown, and is to pass the guard. */
  readonly digest: string | undefined;
  /** Of `rollback`, `pin` and `unpin`: the version in place that was shown. */
  readonly present: number | undefined;
  /** Of `cancel`: when the load that was shown began; of `invalidate` with `drop`: when the value was loaded. Epoch milliseconds. */
  readonly since: number | undefined;
}

/**
 * Carries an action out through the public API of the member.
 *
 * @param key of a cache; empty: the cache as a whole.
 * @returns what happened, for the operator. Rejects with a {@link Refusal}, or with the error of the member.
 */
export async function act(
  { kind, member, lock, store }: GroupMember,
  key: readonly [key?: unknown],
  request: ActionRequest,
): Promise<string> {
  const { action, here } = request;
  const isHere = here || lock === undefined || store === undefined;
  const at = isHere ? 'on this instance' : 'on all instances';
  if (action === 'pause' || action === 'resume') {
    await reached(member[action]({ here }), `${action}d`);
    return `${action}d ${at}`;
  }
  if (action === 'reschedule') {
    if (request.everyMs === undefined) throw new Refusal('every is missing');
    member.reschedule(request.everyMs);
    return `is loaded every ${showDuration(request.everyMs)} from now on, on this instance, until it is started again`;
  }
  if (kind === 'cache') return actOnCache(member, key, request, at);
  return kind === 'value' ? actOnValue(member, request, at) : actOnExecutor(member, request);
}

async function actOnValue(
  value: RefreshingValue<unknown>,
  request: ActionRequest,
  at: string,
): Promise<string> {
  const { action, here, drop, by, note, version, holdMs, digest: force } = request;
  switch (action) {
    case 'end-cool-down':
    case 'refresh': {
      if (action === 'end-cool-down') coolingDown(value.inspect({ values: false }).failures);
      await passed(value.refresh({ here, force }), force);
      const version = value.inspect({ values: false }).lock?.version;
      return version === undefined ? loaded(force) : `${loaded(force)}, version ${version}`;
    }
    case 'invalidate':
      throwUnlessInPlace(value.inspect({ values: false }), request);
      await reached(value.invalidate({ drop, here }), drop ? 'dropped' : 'invalidated');
      return `${drop ? 'dropped' : 'invalidated'} ${at}; the next read loads it`;
    case 'cancel':
      throwUnlessRunning(value.inspect({ values: false }), request);
      return cancelled(value.cancel(`by ${by} in the console`));
    case 'rollback':
    case 'pin': {
      const seen = seenVersion(request);
      const to = action === 'pin' ? await versionToPin(value, seen) : version;
      const hold = holdMs ?? Infinity;
      const made = await value.rollback({
        by,
        hold,
        version: seen,
        ...(to === undefined ? {} : { to }),
        ...(note ? { note } : {}),
      });
      return `version ${to ?? 'before the present one'} is in place as version ${made}, pinned ${until(holdMs)}`;
    }
    case 'unpin':
      if (!(await value.unpin({ by, version: seenVersion(request), ...(note ? { note } : {}) })))
        throw new Refusal('no version is pinned');
      return 'unpinned; the next read loads it';
    default:
      throw new Refusal(`a value has no ${action}`);
  }
}

async function actOnCache(
  cache: RefreshingCache<unknown, unknown>,
  keys: readonly [key?: unknown],
  request: ActionRequest,
  at: string,
): Promise<string> {
  const { action, here, drop, by, digest: force } = request;
  if (keys.length === 0) {
    if (OF_VALUES.includes(action)) throw new Refusal(`a cache has no ${action}`);
    if (action !== 'invalidate') throw new Refusal(`${action} of a cache needs a key`);
    const done = `all keys are ${drop ? 'dropped' : 'invalidated'}`;
    if (drop) await reached(cache.clear({ here }), done);
    else if (here) cache.invalidateWhere(() => true);
    else await reached(cache.invalidate(), done);
    return `${done} ${at}`;
  }
  const [key] = keys;
  switch (action) {
    case 'end-cool-down':
    case 'refresh':
      if (action === 'end-cool-down') coolingDown(cache.inspect(key, { values: false })?.failures ?? 0);
      await passed(cache.refresh(key, { here, force }), force);
      return loaded(force);
    case 'invalidate':
      throwUnlessInPlace(cache.inspect(key, { values: false }), request);
      await reached(cache.invalidate(key, { drop, here }), drop ? 'dropped' : 'invalidated');
      return `${drop ? 'dropped' : 'invalidated'} ${at}; the next read loads it`;
    case 'cancel':
      throwUnlessRunning(cache.inspect(key, { values: false }), request);
      return cancelled(cache.cancel(key, `by ${by} in the console`));
    default:
      throw new Refusal(`a key of a cache has no ${action}`);
  }
}

/** Keys have no history, and no pins. */
const OF_VALUES: readonly ActionName[] = ['rollback', 'pin', 'unpin'];

async function actOnExecutor(executor: PeriodicExecutor, request: ActionRequest): Promise<string> {
  const { action, by } = request;
  switch (action) {
    case 'end-cool-down':
    case 'refresh':
      if (action === 'end-cool-down') coolingDown(executor.inspect().failures);
      await executor.execute();
      return 'executed';
    case 'cancel':
      throwUnlessRunning(executor.inspect(), request);
      return cancelled(executor.cancel(`by ${by} in the console`));
    default:
      throw new Refusal(`an executor has no ${action}`);
  }
}

/** Ends the lease of a token at a lock. */
export async function releaseLock(
  lock: LockProvider,
  name: string,
  token: number | undefined,
): Promise<string> {
  if (token === undefined) throw new Refusal('token is missing: that of the holder that was shown');
  if (!(await lock.forceRelease(name, token))) {
    throw new Refusal(`token ${token} does not hold it any longer; nothing was changed`);
  }
  return `the lease of token ${token} is over; any instance may begin`;
}

/** The version that `pin` keeps: the one in place, or where that is a mark the value below it. */
async function versionToPin(value: RefreshingValue<unknown>, seen: number): Promise<number> {
  const [present, ...others] = await value.history();
  if (present === undefined) throw new Refusal('the backend has no version of it');
  if (present.version !== seen || present.mark === undefined) return seen;
  return others.find(({ mark }) => mark === undefined)?.version ?? seen;
}

/** @throws {Refusal} when the source has something else than the refused value that was shown. */
async function passed(refreshed: Promise<unknown>, force: string | undefined): Promise<void> {
  try {
    await refreshed;
  } catch (error) {
    throw force !== undefined && isTicklessError(error, 'REFUSED') ? new Refusal(error.message) : error;
  }
}

/** Waits for a change of all instances, which is done here in any case. @throws that it is, where the backend does not answer. */
async function reached(change: Promise<unknown>, done: string): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!isTicklessError(error, 'BACKEND_DOWN')) throw error;
    throw new Error(`${done} on this instance only, do it again when the backend answers: ${error.message}`);
  }
}

function loaded(force: string | undefined): string {
  return force === undefined ? 'loaded' : 'loaded past the guard';
}

function coolingDown(failures: number): void {
  if (failures === 0) throw new Refusal('it is not cooling down');
}

function cancelled(was: boolean): string {
  if (!was) throw new Refusal('no load is under way here');
  return 'the load under way is cancelled; it counts as failed';
}

function until(holdMs: number | undefined): string {
  return holdMs === undefined ? 'until it is unpinned' : `for ${showDuration(holdMs)}`;
}

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
