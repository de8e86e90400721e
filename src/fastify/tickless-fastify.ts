import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type HealthProblem, RefreshGroup } from '../index.ts';
import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The group of the plugin `ticklessFastify`. */
    tickless: RefreshGroup;
  }
}

/** The options of {@link ticklessFastify}; none is required. */
export interface TicklessFastifyOptions {
  /** The reference data of the service. @default a new group, to which `app.tickless.value(…)` and the like add */
  readonly group?: RefreshGroup | undefined;
  /**
   * The path of the readiness route: 200 while reads are served, else 503; the body is `{ ok, problems }`. It starts what is
   * due, so that a probe keeps the data fresh without traffic. `false`: none. @default '/ready'
   */
  readonly readiness?: string | false | undefined;
  /**
   * The path of the health route: the same body, always with 200, and nothing is started. Restarting a
   * service would not help its sources. `false`: none. @default '/health'
   */
  readonly health?: string | false | undefined;
  /** How long `app.close()` waits for running loads before it aborts them. @default 10 seconds */
  readonly closeTimeout?: DurationLike | undefined;
  /** `nodeConsole(group, …)` of `tickless/console/node`, to be mounted at `consolePath`. @default none */
  readonly console?:
    | (((request: IncomingMessage, response: ServerResponse) => void) & { close(): Promise<void> })
    | undefined;
  /** The option `path` of that console. @default '/tickless' */
  readonly consolePath?: string | undefined;
}

/**
 * The reference data of a service in Fastify: `app.tickless` is a group, with a readiness route and a health route, and
 * `app.close()` drains it once the last request has been answered.
 *
 * ```ts
 * import Fastify from 'fastify';
 * import { ticklessFastify } from 'tickless/fastify';
 *
 * const app = Fastify();
 * await app.register(ticklessFastify, { closeTimeout: '5s' });
 * const rates = app.tickless.value({ name: 'rates', load: async () => ({ USD: 1.08 }), required: true });
 * app.get('/rates', () => rates.get());
 *
 * console.log((await app.inject('/ready')).statusCode); // 503
 * await app.tickless.ready();
 * console.log((await app.inject('/ready')).body); // {"ok":true,"problems":[]}
 * await app.close();
 * ```
 *
 * The decoration and the routes are there for the whole application, so a `prefix` of `register` is refused: it would have no
 * effect. The problems in the routes have the name of the member, its key and their kind, without messages, which may contain
 * addresses of sources.
 *
 * Rejects with `OPTION` for an unknown option, and for an option of the wrong type.
 */
export const ticklessFastify: (app: FastifyInstance, options: TicklessFastifyOptions) => Promise<void> =
  /* @__PURE__ */ Object.assign(plugin, {
    // As fastify-plugin does it: the decoration is there for the whole application.
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'tickless',
    [Symbol.for('plugin-meta')]: { name: 'tickless', fastify: '5.x' },
  });

async function plugin(app: FastifyInstance, options: TicklessFastifyOptions): Promise<void> {
  const {
    group = new RefreshGroup(),
    readiness = '/ready',
    health = '/health',
    closeTimeout,
    console: page,
    consolePath = '/tickless',
  } = ownOptions(options);
  namesArgument('ticklessFastify', options, OPTIONS);
  const checks = new OptionChecks('ticklessFastify');
  checks.methods('group', group, ['health', 'ready', 'close']);
  for (const [option, path] of Object.entries({ readiness, health, consolePath })) {
    const isPath = typeof path === 'string' && path.startsWith('/');
    checks.that(isPath || path === false, option, "must be a path that begins with '/', or false", path);
  }
  if (closeTimeout !== undefined) checks.durationFromZero('closeTimeout', closeTimeout);
  if (page !== undefined) checks.methods('console', page, ['close']);
  checks.done();

  app.decorate('tickless', group);
  if (readiness !== false) {
    app.get(readiness, (_, reply) => {
      const { ok, problems } = group.health();
      return answer(reply.code(ok ? 200 : 503), ok, problems);
    });
  }
  if (health !== false) {
    app.get(health, (_, reply) => {
      const { ok, problems } = group.health({ start: false });
      return answer(reply, ok, problems);
    });
  }
  if (page !== undefined) {
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers(); // the console reads bodies itself
      scope.addContentTypeParser('*', (_request, _body, done) => done(null));
      for (const path of [consolePath, `${consolePath}/*`]) {
        scope.all(path, (request, reply) => {
          reply.hijack();
          page(request.raw, reply.raw);
        });
      }
    });
    app.addHook('preClose', () => page.close()); // a page that is open keeps its connection
  }
  app.addHook('onClose', () => group.close({ timeout: closeTimeout }));
}

const OPTIONS = ['group', 'readiness', 'health', 'closeTimeout', 'console', 'consolePath'];

function answer(reply: FastifyReply, ok: boolean, problems: readonly HealthProblem[]): FastifyReply {
  const shown = problems.map(({ name, key, kind, isFatal }) => ({ name, key, kind, isFatal }));
  return reply.header('cache-control', 'no-store').send({ ok, problems: shown });
}
