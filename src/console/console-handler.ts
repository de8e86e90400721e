import type { Logger, RefreshGroup } from '../index.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { Api } from './api.ts';
import { assets } from './assets.ts';
import { type Access, accessOf, type ConsoleOptions, resolveConsoleOptions } from './console-options.ts';
import { CsrfTokens } from './csrf.ts';
import { Rates } from './rates.ts';
import type { Redact } from './redact.ts';
import { problem, respond } from './responses.ts';
import { crossSiteReason } from './same-origin.ts';

/** Answers requests for the console. */
export interface ConsoleHandler {
  /**
   * Answers a request for the page or its API; one for another path with 404. Never rejects.
   *
   * @param context is passed to `authorize`: the request or the context of your framework.
   */
  (request: Request, context?: unknown): Promise<Response>;
  /**
   * Ends all streams to open pages, and the member that keeps marks of paused members. From then on requests are answered with
   * 503; actions that were begun before are carried out. Never rejects.
   */
  close(): Promise<void>;
}

/** Reads: a page asks for a detail every two seconds, and for more as the operator clicks. */
const READS = { burst: 60, perSecond: 10 };
const ACTIONS = { burst: 20, perSecond: 1 };

/**
 * The console of a group in the browser: a page that shows the members on all instances, and a JSON API for it.
 *
 * ```ts
 * import { RefreshGroup } from 'tickless';
 * import { consoleHandler } from 'tickless/console';
 *
 * const group = new RefreshGroup();
 * const handler = consoleHandler(group, {
 *   authorize: (request) => (request.headers.get('authorization') === 'Bearer of-ann' ? 'ann' : undefined),
 * });
 * const headers = { authorization: 'Bearer of-ann' };
 * const response = await handler(new Request('http://localhost/tickless/api/overview', { headers }));
 * console.log(response.status); // 200
 * console.log((await handler(new Request('http://localhost/tickless/'))).status); // 403
 * await handler.close();
 * ```
 *
 * Nothing is shown without `authorize`, nothing can be done without `actions`, and no value is shown without `showValue`.
 * While no page is open it holds no timer and no listener.
 *
 * @throws {TicklessError} `OPTION` naming every option that breaks a rule.
 */
export function consoleHandler(group: RefreshGroup, options?: ConsoleOptions): ConsoleHandler {
  const checks = new OptionChecks('console');
  const isGroup = typeof group?.handle === 'object' && typeof group.inspect === 'function';
  checks.that(isGroup, 'group', 'must be a RefreshGroup', group);
  checks.done();
  const resolved = resolveConsoleOptions(options, loggerOf(group));
  const { base, origin, secret, redact } = resolved;
  const tokens = new CsrfTokens(secret);
  const api = new Api(group, resolved, tokens);
  let isClosed = false;
  const [reads, actions] = [new Rates(READS), new Rates(ACTIONS)];

  async function handle(request: Request, context: unknown): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === base) return respond(308, 'text/plain', null, { location: slashAfter(base) });
    if (!pathname.startsWith(`${base}/`)) return problem('not-found', 'there is nothing here', redact);
    if (isClosed) return closed(redact);
    const path = pathname.slice(base.length + 1);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && request.method !== 'POST')
      return problem('method', 'use GET or POST', redact, { allow: 'GET, HEAD, POST' });
    const access = await accessOf(request, context, resolved);
    if (isClosed) return closed(redact);
    if (access instanceof Response) return access;
    if (typeof access === 'string') return refused(path, access, redact);
    const reason = crossSiteReason(request, origin);
    if (reason !== undefined) return problem('cross-site', reason, redact);
    const waits = (isRead ? reads : actions).take(access.id, performance.now());
    if (waits > 0) return busy(waits, redact);
    if (isRead) return read(path, request, access);
    const isOwn = await tokens.isValid(request.headers.get('x-tickless-token'), access.id, Date.now());
    if (!isOwn)
      return problem('token', 'the header x-tickless-token must have the token of api/session', redact);
    return api.post(path, request, access);
  }

  function read(path: string, request: Request, access: Access): Promise<Response> | Response {
    const asset = assets[path];
    if (asset === undefined) return api.get(path, request, access);
    const headers = { etag: asset.etag, 'cache-control': 'private, no-cache' };
    const isKnown = request.headers.get('if-none-match') === asset.etag;
    return isKnown ? respond(304, asset.type, null, headers) : respond(200, asset.type, asset.text, headers);
  }

  const handler = async (request: Request, context?: unknown): Promise<Response> => {
    try {
      const response = await handle(request, context);
      if (request.method !== 'HEAD') return response;
      await response.body?.cancel();
      return new Response(null, response);
    } catch {
      return problem('failed', 'the console failed; the request may have been carried out', redact);
    }
  };
  const close = (): Promise<void> => {
    isClosed = true;
    return api.close();
  };
  return Object.assign(handler, { close });
}

/** The console logs where the members of its group do. */
function loggerOf(group: RefreshGroup): Logger | false {
  const defaults: { readonly logger?: Logger | false | undefined } = group.handle.defaults;
  return ownOptions(defaults).logger ?? console;
}

function closed(redact: Redact): Response {
  return problem('unavailable', 'the console is closed', redact);
}

function busy(seconds: number, redact: Redact): Response {
  return problem('too-many', `too many requests; try again in ${seconds} s`, redact, {
    'retry-after': String(seconds),
  });
}

/** As text for a browser, as JSON for a program. */
function refused(path: string, message: string, redact: Redact): Response {
  const isApi = path.startsWith('api/');
  return isApi
    ? problem('forbidden', message, redact)
    : respond(403, 'text/plain; charset=utf-8', `${message}\n`);
}

/** The page relative to its path without the slash: a proxy may have taken parts from before it. */
function slashAfter(base: string): string {
  return `./${base.slice(base.lastIndexOf('/') + 1)}/`;
}
