// The JSON API as a document of OpenAPI 3.1. The tests check each answer against it.

import { OUTCOMES } from '../data/execution-record.ts';
import { ACTION_NAMES } from './action-names.ts';

type Schema = { readonly [keyword: string]: unknown };

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0 };
const instant: Schema = { type: 'number', description: 'epoch milliseconds' };
const duration: Schema = { type: 'number', description: 'milliseconds' };
const version: Schema = { type: 'integer', description: 'grows with each version; also a fencing token' };
const yes: Schema = { const: true };

const oneOf = (...values: readonly string[]): Schema => ({ enum: values });
const about = (schema: Schema, description: string): Schema => ({ ...schema, description });
const list = (items: Schema): Schema => ({ type: 'array', items });
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** An object with these fields and no others. Names that end in `?` may be missing. */
function object(fields: Readonly<Record<string, Schema>>, description?: string): Schema {
  const entries = Object.entries(fields).map(([name, schema]) => [name.replace('?', ''), schema] as const);
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(entries),
    required: Object.keys(fields).filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  };
}

const schemas: Readonly<Record<string, Schema>> = {
  Error: object({ error: object({ code: text, message: text }) }, 'Each answer with a status from 400 on.'),
  Session: object({
    by: text,
    actions: list(oneOf(...ACTION_NAMES)),
    token: about(text, 'for the header x-tickless-token of actions'),
    refreshEveryMs: duration,
    showsValues: flag,
  }),
  Instance: object({
    id: text,
    host: text,
    label: about(text, 'the host, and the process where several instances run on it'),
    isHere: about(flag, 'the instance that answers'),
    startedAt: instant,
    seenAt: instant,
    'isIdle?': about(yes, 'nothing has read it for longer than its report lasts'),
    leftOut: about(count, 'members that are not in its report'),
  }),
  Cell: object(
    {
      on: about(text, 'the id of the instance'),
      'version?': version,
      'loadedAt?': instant,
      'behind?': about(yes, 'another instance has a newer version'),
      'failures?': count,
      'error?': text,
      'pinnedBy?': text,
      'refused?': text,
    },
    'A member on one instance, by the last report of that.',
  ),
  Here: object(
    {
      state: oneOf('fresh', 'stale', 'too-stale', 'empty', 'absent', 'done', 'due', 'keys'),
      'refusesReads?': yes,
      'running?': yes,
      'runningSince?': about(instant, 'when the load under way began'),
      'paused?': yes,
      'closed?': yes,
      'loadedAt?': instant,
      'nextAt?': about(instant, 'epoch milliseconds; missing: at once, or never by itself'),
      'maxStaleness?': duration,
      'failures?': count,
      'backups?': about(count, 'how many of its values the first source of firstOf has not made'),
      'failingSince?': about(instant, 'when the first of the failures in a row ended'),
      'error?': text,
      'version?': version,
      'isHolder?': yes,
      'pinned?': object({ by: text, 'note?': text, 'until?': instant }),
      'refused?': text,
      'size?': count,
      'loading?': count,
    },
    'A member, or a key, on the instance that answers.',
  ),
  Member: object({
    id: about(text, 'names it in requests'),
    name: text,
    kind: oneOf('value', 'cache', 'executor'),
    level: about(text, 'bad, warn, backup, unshared, note or ok; others may follow'),
    problems: list(
      object({
        kind: text,
        isFatal: flag,
        message: text,
        'cause?': about(text, 'the error behind it, without the name of the member'),
        'since?': about(instant, 'of a backup in use'),
      }),
    ),
    here: ref('Here'),
    'fleet?': object({ of: count, holding: count, 'version?': version }),
    cells: list(ref('Cell')),
  }),
  Overview: object({
    at: about(instant, 'the clock of the instance that answers: ages count from here'),
    group: object({ name: text, closed: flag }),
    ok: about(flag, 'no read would be refused now'),
    'fleetError?': text,
    instances: list(ref('Instance')),
    members: about(list(ref('Member')), 'problems first'),
  }),
  ShownError: object({
    name: text,
    'code?': text,
    message: text,
    'stack?': text,
    'cause?': ref('ShownError'),
  }),
  LockRecord: object({
    name: text,
    token: version,
    owner: text,
    host: text,
    state: oneOf('running', 'done', 'failed', 'abandoned', 'released', 'registered'),
    tookOver: flag,
    leaseLeft: duration,
    holdLeft: duration,
    acquiredAgo: duration,
    'finishedAgo?': duration,
    'lastError?': text,
    'lock?': about(count, 'which lock, in api/locks'),
    'id?': about(text, 'names it in requests, in api/locks'),
    'isInternal?': about(yes, 'the library keeps it for itself, in api/locks'),
  }),
  Version: object({
    version,
    age: duration,
    bytes: count,
    'owner?': text,
    'host?': text,
    'made?': text,
    'by?': text,
    'note?': text,
    isPinned: flag,
    'mark?': text,
    'damage?': text,
  }),
  Event: object({
    number: count,
    id: about(text, 'of the member'),
    type: text,
    at: instant,
    'key?': text,
    'outcome?': about(text, 'of load-ended and round'),
    'backend?': oneOf('lock', 'store'),
    'took?': duration,
    'trigger?': text,
    'attempts?': count,
    'version?': version,
    'token?': version,
    'host?': text,
    'error?': text,
  }),
  Detail: object({
    at: instant,
    name: text,
    kind: oneOf('value', 'cache', 'executor'),
    'key?': object({ id: text, text }),
    here: ref('Here'),
    'error?': ref('ShownError'),
    'refused?': object({
      reason: text,
      since: instant,
      'size?': count,
      'previousSize?': count,
      'digest?': about(text, 'names it, for refresh; missing: the schema refused it'),
      'difference?': about(ref('Difference'), 'from the value before to the refused one'),
    }),
    'value?': about(text, 'what showValue returns, as JSON'),
    'checks?': object({ 'checkedAt?': instant, 'error?': text }),
    'counts?': { type: 'object', description: 'the counts of the instance, as inspect().counts' },
    backends: object({ lock: flag, store: flag }),
    'lock?': ref('LockRecord'),
    'lockError?': text,
    history: list(ref('Version')),
    'historyError?': text,
    executions: about(
      list(ref('Execution')),
      'the last ones that have ended, newest first; of other instances where one has failed in the last 24 hours',
    ),
    'runsError?': about(text, 'why the runs of a task are not known: its backend does not answer'),
    events: list(ref('Event')),
  }),
  Execution: object({
    'on?': about(text, 'the instance; missing: the one that answers'),
    startedAt: instant,
    took: duration,
    outcome: oneOf('done', 'absent', ...OUTCOMES.filter((one) => one !== 'deferred' && one !== 'late')),
    'trigger?': oneOf('first', 'due', 'forced', 'invalidated'),
    'attempts?': about(count, 'how many times the load was called'),
    'error?': text,
    'key?': text,
  }),
  Keys: object({
    at: instant,
    size: count,
    matching: count,
    looked: about(count, 'how many keys were looked at, those that were used last'),
    keys: about(list(object({ id: text, text, here: ref('Here') })), 'the first 100, used last first'),
  }),
  Difference: object({
    added: count,
    removed: count,
    changed: count,
    unchanged: count,
    parts: list(object({ id: text, 'before?': text, 'after?': text })),
  }),
  Locks: object({ at: instant, records: list(ref('LockRecord')), errors: list(text) }),
  Run: object({
    startedAt: instant,
    took: duration,
    outcome: oneOf('loaded', 'failed', 'refused', 'timed-out', 'cancelled'),
    'error?': text,
    'token?': version,
    'host?': about(text, 'left out: this instance'),
    'instance?': text,
  }),
  Runs: object({ runs: list(ref('Run')) }),
  Audit: object({
    records: list(
      object({
        at: instant,
        by: text,
        action: text,
        name: text,
        'lock?': count,
        'key?': text,
        'here?': yes,
        'note?': text,
        result: oneOf('done', 'failed', 'refused'),
        message: text,
        host: text,
        'unwritten?': about(yes, 'it is on the instance that answers, until it can be written'),
      }),
    ),
    'problem?': text,
  }),
  ActionRequest: object({
    id: about(text, 'of the member, or of the lock record'),
    'key?': text,
    'lock?': count,
    'here?': about(
      flag,
      'on the instance that answers only; else on all instances of a member with a backend',
    ),
    'drop?': flag,
    'note?': { ...text, maxLength: 500 },
    'version?': version,
    'holdMs?': duration,
    'everyMs?': duration,
    'token?': version,
    'digest?': about(text, 'of refresh: that of the refused value that was shown, and is to pass the guard'),
    'present?': about(version, 'of rollback, pin and unpin: the version in place that was shown'),
    'since?': about(
      instant,
      'of cancel: runningSince that was shown; of invalidate with drop: loadedAt that was shown',
    ),
  }),
  ActionResult: object({ result: oneOf('done'), message: text }),
};

const content = (name: string): Schema => ({ content: { 'application/json': { schema: ref(name) } } });

function answers(name: string): Schema {
  return {
    200: { description: name, ...content(name) },
    default: { description: 'Error', ...content('Error') },
  };
}

function read(name: string, ...parameters: readonly string[]): Schema {
  const query = parameters.map((one) => ({
    name: one.replace('?', ''),
    in: 'query',
    required: !one.endsWith('?'),
    schema: text,
  }));
  return { get: { parameters: query, responses: answers(name) } };
}

const token: Schema = { name: 'x-tickless-token', in: 'header', required: true, schema: text };

/** The JSON API of the console, as a document of OpenAPI 3.1. Paths are below the option `path`. */
export const apiSchema: Schema = {
  openapi: '3.1.0',
  info: { title: 'tickless console', version: '1' },
  paths: {
    '/api/session': read('Session'),
    '/api/overview': read('Overview'),
    '/api/member': read('Detail', 'id', 'key?'),
    '/api/keys': read('Keys', 'id', 'search?'),
    '/api/compare': read('Difference', 'id', 'before', 'after'),
    '/api/locks': read('Locks', 'prefix?'),
    '/api/runs': read('Runs', 'id', 'lock'),
    '/api/audit': read('Audit'),
    '/api/live': {
      get: {
        description: 'Server-sent events: `overview` with what has changed, and `events`.',
        responses: { 200: { description: 'events', content: { 'text/event-stream': {} } } },
      },
    },
    '/api/actions/{action}': {
      post: {
        parameters: [{ name: 'action', in: 'path', required: true, schema: oneOf(...ACTION_NAMES) }, token],
        requestBody: content('ActionRequest'),
        responses: answers('ActionResult'),
      },
    },
  },
  components: { schemas },
};
