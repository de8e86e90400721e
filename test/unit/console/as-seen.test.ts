import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { shrinksAtMost } from '../../../src/guards/index.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { openConsole } from '../../support/console.ts';

/** A hundred prices are in place, sixty were refused. */
async function refused() {
  const backend = memoryBackend({ keepVersions: 5 });
  const group = new RefreshGroup({ logger: false, retry: false, backend, schedule: '1h' });
  const console = openConsole({ actions: true }, group);
  const source = { edition: Array.from({ length: 100 }, (_, i) => i) };
  const prices = group.value({ name: 'prices', load: () => source.edition, accept: shrinksAtMost(0.3) });
  await prices.get();
  source.edition = source.edition.slice(0, 60);
  await prices.refresh().catch(() => {});
  const detail = async () => (await console.get('api/member?id=prices')).body;
  return { console, group, prices, source, detail };
}

describe('a refresh past the guard', () => {
  it('is refused when the source has something else than the refused value that was shown', async () => {
    const { console, prices, source, detail } = await refused();
    const { digest } = (await detail()).refused;
    source.edition = [];
    const { status, body } = await console.act('refresh', { id: 'prices', digest });
    expect([status, body.error.code]).toEqual([409, 'conflict']);
    expect(body.error.message).toContain('look at it again');
    expect([prices.current.length, prices.inspect().refused?.size]).toEqual([100, 0]);
    const again = { id: 'prices', digest: (await detail()).refused.digest };
    expect((await console.act('refresh', again)).status).toBe(200);
    expect(prices.current.length).toBe(0);
  });

  it('is done when the source has the same content in another list', async () => {
    const { console, prices, source, detail } = await refused();
    const { digest } = (await detail()).refused;
    source.edition = [...source.edition];
    expect((await console.act('refresh', { id: 'prices', digest })).status).toBe(200);
    expect(prices.current.length).toBe(60);
  });
});

describe.each(['rollback', 'pin', 'unpin'])('%s', (action) => {
  it('is refused when another version is in place than the one that was shown, and without it', async () => {
    const { console, prices, detail } = await refused();
    await prices.set([1]);
    const [, first] = await prices.history();
    if (action === 'unpin') await prices.rollback({ by: 'bob' });
    const { history } = await detail();
    const body = {
      id: 'prices',
      present: history[0].version,
      ...(action === 'rollback' && { version: first?.version }),
    };
    const { present: _, ...without } = body;
    expect((await console.act(action, without)).body.error.message).toContain('present is missing');
    await prices.set([2]);
    if (action === 'unpin') await prices.rollback({ by: 'cleo' });
    const before = await prices.history();
    const { status, body: answer } = await console.act(action, body);
    expect([status, answer.error.message]).toEqual([409, expect.stringContaining('look at it again')]);
    expect((await prices.history())[0]).toMatchObject({ version: before[0]?.version });
    const again = { ...body, present: (await detail()).history[0].version };
    expect((await console.act(action, again)).status).toBe(200);
  });
});

it('a load is cancelled only when it is the one that was shown', async () => {
  const { console, group } = await refused();
  const slow = group.value({ name: 'slow', load: () => new Promise<number>(() => {}), timeout: '1h' });
  const waits = slow.get().catch(() => 'cancelled');
  const { here } = (await console.get('api/member?id=slow')).body;
  const cancel = (since?: number) => console.act('cancel', { id: 'slow', since });
  expect((await cancel()).body.error.message).toContain('since is missing');
  expect((await cancel(here.runningSince - 5000)).body.error.message).toContain('another one is there');
  expect((await cancel(here.runningSince)).status).toBe(200);
  expect(await waits).toBe('cancelled');
});

it('a value is dropped only when it is the one that was shown', async () => {
  const { console, prices, detail } = await refused();
  const { here } = await detail();
  const drop = (since?: number) => console.act('invalidate', { id: 'prices', drop: true, since });
  expect((await drop()).status).toBe(409);
  expect((await drop(here.loadedAt - 5000)).status).toBe(409);
  expect(prices.peek()?.length).toBe(100);
  expect((await drop(here.loadedAt)).status).toBe(200);
  expect(prices.peek()).toBeUndefined();
});
