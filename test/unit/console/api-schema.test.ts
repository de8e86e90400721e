import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { apiSchema } from '../../../src/console/index.ts';
import { lockedTask, RefreshGroup } from '../../../src/index.ts';
import { TestConsole } from '../../support/console.ts';
import { storeOf } from '../../support/parts.ts';
import { untilHeld } from '../../support/until-held.ts';

const ajv = new Ajv2020({ strict: false });
ajv.addSchema({ $id: 'api', ...apiSchema });

/** What is wrong with an answer; `null`: nothing. */
function wrong(name: string, body: unknown): unknown {
  const validate = ajv.getSchema(`api#/components/schemas/${name}`);
  if (validate === undefined) throw new Error(`there is no schema ${name}`);
  return validate(body) ? null : validate.errors;
}

describe('the schema of the API', () => {
  it('describes what is answered, with all that a member can have', async () => {
    const backend = memoryBackend({ keepVersions: 5 });
    const group = new RefreshGroup({ backend, propagateWithin: 50, logger: false, retry: false });
    const console = new TestConsole({ actions: true, backend, showValue: (value) => value }, group);
    let edition = { apple: 1, pear: 2 };
    const prices = group.value({
      name: 'prices',
      load: async () => edition,
      maxStaleness: { hours: 9 },
      accept: () => edition.apple < 9 || 'too dear',
    });
    const cities = group.cache({ name: 'cities', load: async (code: string) => `City of ${code}` });
    const down = group.value({
      name: 'down',
      required: true,
      load: () => Promise.reject(new Error('no', { cause: new Error('why') })),
    });
    const cleaner = group.executor(() => {}, { name: 'cleaner' });
    await lockedTask(() => 1, { name: 'report', backend })();
    await Promise.allSettled([prices.get(), cities.get('1012'), down.get(), cleaner.requestStart()]);
    edition = { apple: 2, pear: 2 };
    await prices.refresh();
    const [present] = await prices.history();
    const acted = await console.act('rollback', {
      id: 'prices',
      present: present?.version,
      note: 'why',
      holdMs: 60_000,
    });
    expect(wrong('ActionResult', acted.body)).toBeNull();
    expect(wrong('Error', (await console.act('refresh', { id: 'prices', key: 'x' })).body)).toBeNull();
    edition = { apple: 10, pear: 2 };
    await prices.unpin();
    await prices.refresh().catch(() => {});
    await untilHeld(storeOf(backend), 'prices', [prices]);
    const [newer, older] = (await prices.history()).map((one) => one.version);
    const reads: Readonly<Record<string, string>> = {
      'api/session': 'Session',
      'api/overview': 'Overview',
      'api/member?id=prices': 'Detail',
      'api/member?id=down': 'Detail',
      'api/member?id=cities': 'Detail',
      'api/member?id=cities&key=%221012%22': 'Detail',
      'api/member?id=cleaner': 'Detail',
      'api/member?id=unknown': 'Error',
      'api/keys?id=cities': 'Keys',
      [`api/compare?id=prices&before=${older}&after=${newer}`]: 'Difference',
      'api/compare?id=prices&before=1&after=2': 'Error',
      'api/locks': 'Locks',
      'api/runs?id=report&lock=0': 'Runs',
      'api/audit': 'Audit',
      'api/nothing': 'Error',
    };
    for (const [path, name] of Object.entries(reads)) {
      expect({ path, wrong: wrong(name, (await console.get(path)).body) }).toEqual({ path, wrong: null });
    }
    const detail = (await console.get('api/member?id=prices')).body;
    expect(detail).toMatchObject({
      refused: { reason: 'too dear', difference: { changed: 1 } },
      lock: { state: 'failed' },
    });
    expect(detail.history.length).toBeGreaterThan(2);
    expect((await console.get('api/member?id=cleaner')).body.executions).toMatchObject([{ outcome: 'done' }]);
    expect((await console.get('api/runs?id=report&lock=0')).body.runs).toMatchObject([{ outcome: 'loaded' }]);
    expect((await console.get('api/runs?id=report&lock=9')).body.runs).toEqual([]);
    await console.handler.close();
    await group.close({ timeout: 0 });
  });

  it('finds a field that it does not describe', () => {
    expect(wrong('ActionResult', { result: 'done', message: '', more: 1 })).not.toBeNull();
  });
});
