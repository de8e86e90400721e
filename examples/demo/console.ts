import type { FastifyInstance } from 'fastify';
import type { RefreshGroup } from 'tickless';
import { nodeConsole } from 'tickless/console/node';
import { CONSOLE_PATH } from './console-path.ts';

/** Mounts the console of a group. Whoever is on this machine may look and act: in production `authorize` asks a session. */
export function mountConsole(app: FastifyInstance, group: RefreshGroup): void {
  const console = nodeConsole(group, {
    path: CONSOLE_PATH,
    // Another name for this address would be a page of a stranger (DNS rebinding).
    authorize: (request) => (new URL(request.url).hostname === '127.0.0.1' ? 'you' : undefined),
    actions: true,
  });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers(); // it reads bodies itself, as much as it accepts
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const path of [CONSOLE_PATH, `${CONSOLE_PATH}/*`]) {
      scope.all(path, (request, reply) => {
        reply.hijack();
        console(request.raw, reply.raw);
      });
    }
  });
  // Not onClose: that comes after all connections have ended, and each open page has one.
  app.addHook('preClose', () => console.close());
}
