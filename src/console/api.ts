import { thisHost } from '../cluster/identity.ts';
import type { Fleet, GroupMember, RefreshGroup } from '../index.ts';
import { type ActionRequest, act, actionRequest, releaseLock } from './actions.ts';
import { apiSchema } from './api-schema.ts';
import { Audit } from './audit.ts';
import { jsonBody } from './body.ts';
import type { Access, ResolvedConsoleOptions } from './console-options.ts';
import type { CsrfTokens } from './csrf.ts';
import { detailOf, keyRows } from './detail.ts';
import { KeySearch } from './key-search.ts';
import { Live } from './live.ts';
import { type FoundLock, Locks } from './locks.ts';
import { memberOf, shownKey } from './member-access.ts';
import { namesOf, Overviews } from './overview.ts';
import { type Redact, shownText } from './redact.ts';
import { isRefusal, Refusal } from './refusals.ts';
import { type ErrorCode, json, jsonText, problem, respond } from './responses.ts';
import { shownDifference } from './shown-value.ts';
import { TooMany, TurnsOfOperators } from './turns-of-operators.ts';
import { WatchTime } from './watch-time.ts';

/** Of a name or a message in an audit record, in characters. */
const LONGEST_TEXT = 1000;

/** The JSON API, for requests that are authorized. */
export class Api {
  readonly #group: RefreshGroup;
  readonly #options: ResolvedConsoleOptions;
  readonly #redact: Redact;
  readonly #tokens: CsrfTokens;
  readonly #overviews: Overviews;
  readonly #live: Live;
  readonly #locks: Locks;
  readonly #audit: Audit;
  readonly #turns: TurnsOfOperators = new TurnsOfOperators();
  readonly #keySearch: KeySearch = new KeySearch(this.#turns);

  constructor(group: RefreshGroup, options: ResolvedConsoleOptions, tokens: CsrfTokens) {
    const { backend, locks, refreshEveryMs, redact } = options;
    this.#group = group;
    this.#options = options;
    this.#redact = redact;
    this.#tokens = tokens;
    const time = new WatchTime();
    this.#overviews = new Overviews(group, time, redact);
    this.#live = new Live(group, this.#overviews, time, refreshEveryMs, redact, () => {
      void this.#audit.flush();
    });
    this.#locks = new Locks(group, backend === undefined ? locks : [...locks, backend], redact);
    this.#audit = new Audit(backend, options);
  }

  #json(data: unknown): Response {
    return json(data, this.#redact, { shown: namesOf({ members: this.#group.members() }) });
  }

  #problem(code: ErrorCode, message: string, more?: Readonly<Record<string, string>>): Response {
    return problem(code, message, this.#redact, more);
  }

  async get(path: string, request: Request, access: Access): Promise<Response> {
    try {
      return await this.#get(path, request, access);
    } catch (error) {
      if (error instanceof TooMany) return this.#problem('too-many', error.message, { 'retry-after': '1' });
      throw error;
    }
  }

  async #get(path: string, request: Request, { id, by, actions }: Access): Promise<Response> {
    const query = new URL(request.url).searchParams;
    switch (path) {
      case 'api/session': {
        const token = await this.#tokens.issue(id, Date.now());
        const { showValue, refreshEveryMs } = this.#options;
        const showsValues = showValue !== undefined;
        const session = { by, actions: [...actions], token, refreshEveryMs, showsValues };
        return json(session, this.#redact, { shown: new Set([token]) });
      }
      case 'api/overview':
        return jsonText(await this.#overviews.text());
      case 'api/member':
        return this.#member(query, id);
      case 'api/keys':
        return this.#keys(query, id);
      case 'api/compare':
        return this.#compare(query, id);
      case 'api/locks':
        return this.#lockRecords(query, id);
      case 'api/runs':
        return this.#runs(query);
      case 'api/audit':
        return this.#json(await this.#audit.list());
      case 'api/live': {
        const stream = await this.#live.open(id);
        if (stream === undefined) return this.#problem('too-many', 'too many pages are open');
        return respond(200, 'text/event-stream; charset=utf-8', stream, { 'x-accel-buffering': 'no' });
      }
      case 'api/schema':
        return jsonText(JSON.stringify(apiSchema));
      default:
        return this.#problem('not-found', 'there is nothing here; api/schema lists the paths');
    }
  }

  async post(path: string, request: Request, { id, by, actions }: Access): Promise<Response> {
    const action = /^api\/actions\/([a-z-]{1,40})$/.exec(path)?.[1];
    if (action === undefined)
      return this.#problem('not-found', 'there is nothing here; api/schema lists the paths');
    const body = await jsonBody(request);
    if (typeof body === 'string') return this.#problem('invalid', body);
    const asked = actionRequest(action, body, by);
    if (typeof asked === 'string') return this.#problem('invalid', asked);
    if (!actions.has(asked.action)) {
      const message = `${action} is not allowed for ${by}: the option actions of the console, or what authorize returned, leaves it out`;
      return this.#answer('refused', message, asked, body, 'read-only');
    }
    const lock = asked.action === 'release-lock' ? await this.#lockOf(body) : undefined;
    if (lock instanceof Error) return this.#answer('failed', lock.message, asked, body, 'failed');
    const about = lock === undefined ? body : { id: lock.name, key: body.key, lock: lock.at };
    try {
      const done =
        lock === undefined
          ? await this.#carryOut(asked, body, id)
          : await releaseLock(lock.lock, lock.name, asked.token).finally(() => this.#locks.changed());
      return await this.#answer('done', done, asked, about);
    } catch (error) {
      const isRefused = isRefusal(error);
      const message = error instanceof Error ? error.message : String(error);
      return this.#answer(
        isRefused ? 'refused' : 'failed',
        message,
        asked,
        about,
        isRefused ? 'conflict' : 'failed',
      );
    }
  }

  async close(): Promise<void> {
    this.#live.close();
    await this.#audit.close();
  }

  /** The record that a request names; an error: its lock does not answer. */
  async #lockOf({ id, lock }: Readonly<Record<string, unknown>>): Promise<FoundLock | Error | undefined> {
    try {
      return await this.#locks.find(String(id ?? ''), lock);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #carryOut(
    asked: ActionRequest,
    body: Readonly<Record<string, unknown>>,
    operator: string,
  ): Promise<string> {
    if (asked.action === 'release-lock') throw new Refusal('there is no such lock');
    const member = memberOf(this.#group, body.id);
    if (member === undefined) throw new Refusal('there is no such member');
    if (body.key === undefined) return act(member, [], asked);
    const key = member.kind === 'cache' ? await this.#keySearch.find(member.member, body.key, operator) : [];
    if (key.length === 0) throw new Refusal('there is no such key, nor are others of its type');
    return act(member, key as [unknown], asked);
  }

  /** Records the action, and answers it. */
  async #answer(
    result: 'done' | 'failed' | 'refused',
    message: string,
    { action, by, here, note }: ActionRequest,
    { id, key, lock }: Readonly<Record<string, unknown>>,
    code?: ErrorCode,
  ): Promise<Response> {
    const isLock = action === 'release-lock';
    const member = isLock ? undefined : memberOf(this.#group, id);
    const named = String(id ?? '');
    const isShown = isLock && this.#group.members().some(({ name }) => name === named); // as in the list of locks
    const audit = await this.#audit.add({
      at: Date.now(),
      by,
      action,
      name: member?.name ?? (isShown ? named : shownText(named, LONGEST_TEXT, this.#redact)),
      ...(isLock && Number.isSafeInteger(lock) ? { lock: lock as number } : {}),
      ...(key === undefined ? {} : { key: shownText(String(key), 200, this.#redact) }),
      ...(here ? { here: true } : {}),
      ...(note ? { note } : {}),
      result,
      message: shownText(message, LONGEST_TEXT, this.#redact),
      host: thisHost(),
    });
    const more = audit === undefined ? '' : ` (${audit})`;
    return code === undefined
      ? json({ result, message: message + more }, this.#redact)
      : this.#problem(code, message + more);
  }

  async #member(query: URLSearchParams, by: string): Promise<Response> {
    const member = memberOf(this.#group, query.get('id'));
    if (member === undefined) return this.#problem('not-found', 'there is no such member');
    const events = this.#live.eventsOf(member.name);
    const fleet = (): Promise<Fleet | undefined> => this.#overviews.fleet();
    if (!query.has('key')) return this.#json(await detailOf(member, [], events, fleet, this.#options));
    const key = await this.#keyOf(member, query, by);
    if (key.length === 0) return this.#problem('not-found', 'there is no such key');
    const { text } = shownKey(key[0], this.#redact);
    const own = events.filter((event) => event.key === text);
    return this.#json(await detailOf(member, key as [unknown], own, fleet, this.#options));
  }

  /** The key of a cache that a request names; empty: it has none, or there is no such key. */
  #keyOf(
    member: GroupMember,
    query: URLSearchParams,
    by: string,
  ): Promise<readonly [key?: unknown]> | readonly [] {
    if (member.kind !== 'cache' || !query.has('key')) return [];
    return this.#keySearch.find(member.member, query.get('key'), by);
  }

  async #keys(query: URLSearchParams, by: string): Promise<Response> {
    const member = memberOf(this.#group, query.get('id'));
    if (member?.kind !== 'cache') return this.#problem('not-found', 'there is no such cache');
    const found = await this.#keySearch.search(member.member, (query.get('search') ?? '').slice(0, 1000), by);
    return this.#json(keyRows(member.member, found, this.#redact));
  }

  async #lockRecords(query: URLSearchParams, by: string): Promise<Response> {
    const { at, records, errors } = await this.#locks.list(
      (query.get('prefix') ?? '').slice(0, LONGEST_TEXT),
      by,
    );
    return this.#json({ at, records, errors });
  }

  async #runs(query: URLSearchParams): Promise<Response> {
    try {
      const lock = Number(query.get('lock') ?? 'none');
      const runs = await this.#locks.runs(query.get('id') ?? '', lock);
      return json({ runs }, this.#redact);
    } catch (error) {
      return this.#problem('unavailable', error instanceof Error ? error.message : String(error));
    }
  }

  async #compare(query: URLSearchParams, by: string): Promise<Response> {
    const member = memberOf(this.#group, query.get('id'));
    if (member?.kind !== 'value') return this.#problem('not-found', 'there is no such value');
    const [before, after] = [Number(query.get('before')), Number(query.get('after'))];
    try {
      // Two versions at a time are in memory.
      const difference = await this.#turns.run(by, () => member.compare(before, after));
      return json(shownDifference(difference, member.name, this.#options), this.#redact);
    } catch (error) {
      if (error instanceof TooMany) throw error;
      const code = isRefusal(error) ? 'invalid' : 'unavailable';
      return this.#problem(code, error instanceof Error ? error.message : String(error));
    }
  }
}
