import Fastify, { type FastifyInstance } from 'fastify';
import { expect, it } from 'vitest';
import { nodeConsole } from '../../../src/console/node.ts';
import { type TicklessFastifyOptions, ticklessFastify } from '../../../src/fastify/index.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';

async function started(options: TicklessFastifyOptions = {}): Promise<FastifyInstance> {
  const app = Fastify();
  await app.register(ticklessFastify, options);
  return app;
}

const shown = async (app: FastifyInstance, path: string): Promise<unknown[]> => {
  const { statusCode, payload } = await app.inject(path);
  return [statusCode, JSON.parse(payload)];
};

it('is ready when reads are served; health is the same without a start and without 503', async () => {
  const app = await started();
  const manual = new ManualLoad<number>();
  const rates = app.tickless.value({ name: 'rates', load: manual.load, required: true });
  const problems = [{ name: 'rates', kind: 'not-loaded', isFatal: true }];
  expect(await shown(app, '/health')).toEqual([200, { ok: false, problems }]);
  expect(manual.calls).toHaveLength(0);
  expect(await shown(app, '/ready')).toEqual([503, { ok: false, problems }]);
  expect(manual.calls).toHaveLength(1); // the probe has started it
  manual.call(0).resolve(1);
  await rates.get();
  expect(await shown(app, '/ready')).toEqual([200, { ok: true, problems: [] }]);
  await app.close();
});

it('drains the group after the last request, and aborts what takes longer', async () => {
  const group = new RefreshGroup({ logger: false });
  const app = await started({ group, closeTimeout: 0 });
  expect(app.tickless).toBe(group);
  const manual = new ManualLoad<number>('rejects');
  const rates = group.value({ name: 'rates', load: manual.load });
  app.get('/rates', async () => rates.get().catch((error: Error) => ({ error: error.message })));
  const address = await app.listen({ port: 0 });
  const asked = fetch(`${address}/rates`);
  await expect.poll(() => manual.calls.length).toBe(1);
  const slow = new ManualLoad<number>('rejects');
  const aborted = group.value({ name: 'slow', load: slow.load }).get();
  const closing = app.close();
  manual.call(0).resolve(5);
  expect(await (await asked).json()).toBe(5); // it was under way before
  await closing;
  expect([group.inspect().closed, slow.call(0).context.signal.aborted]).toEqual([true, true]);
  await expect(aborted).rejects.toThrow('closed');
  await expect(rates.refresh()).rejects.toThrow('closed');
});

it('has routes under its own paths, or none', async () => {
  const app = await started({ readiness: '/up', health: false });
  expect((await app.inject('/up')).statusCode).toBe(200);
  expect((await app.inject('/health')).statusCode).toBe(404);
  expect((await app.inject('/ready')).statusCode).toBe(404);
  await app.close();
});

it('mounts a console, with bodies, and ends its open pages', async () => {
  const group = new RefreshGroup({ logger: false });
  const page = nodeConsole(group, { authorize: () => 'ann', actions: true });
  const app = await started({ group, console: page });
  app.post('/echo', async ({ body }) => body);
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const answer = await fetch(`${address}/tickless/`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/html'),
  ]);
  await answer.text();
  const headers = { 'content-type': 'application/json' };
  const refused = await fetch(`${address}/tickless/api/actions`, { method: 'POST', headers, body: '{}' });
  expect([403, 404, 400].includes(refused.status)).toBe(true); // by the console
  await refused.text();
  const echo = await fetch(`${address}/echo`, { method: 'POST', headers, body: '{"a":1}' });
  expect(await echo.json()).toEqual({ a: 1 }); // other bodies are read as before
  await app.close();
});

it.each([
  [{ prefix: '/internal' }, 'prefix is unknown'],
  [{ readines: '/up' }, 'readines is unknown (did you mean readiness?)'],
  [{ readiness: 'up' }, "readiness must be a path that begins with '/'"],
  [{ closeTimeout: 'soon' }, 'closeTimeout must be a duration'],
  [{ group: {} }, 'group must have the methods'],
  [{ console: true }, 'console must have the methods close'],
])('refuses %j', async (options, message) => {
  await expect(started(options as never)).rejects.toThrow(message);
});
