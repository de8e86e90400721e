import { describe, expect, it } from 'vitest';
import { split } from '../../../src/backends/cas/text-cells.ts';
import { partIn, withFields } from '../../support/cell-text.ts';
import { storeOn } from '../../support/parts.ts';
import { storeConformance } from '../../support/store-conformance.ts';
import { CLOCKS, MemoryTexts, Server, swappedIn } from './memory-texts.ts';

function storeOf(records: MemoryTexts, keepVersions = 1, namespace?: string) {
  return storeOn(swappedIn(records), { keepVersions, namespace }, { options: [] });
}

const LONG = 'x'.repeat(3500);
const TOKEN = 1000;

/** The keys of parts. */
const partsIn = (server: Server): string[] => [...server.texts.keys()].filter((key) => key.includes('part/'));

describe('a store on records that are swapped', () => {
  describe.concurrent.each(CLOCKS)('conformance, where %s', (_, one, another) => {
    const server = Server.ofNow();
    for (const keepVersions of [1, 3]) {
      const [store, other] = [one, another].map((each) =>
        storeOf(new MemoryTexts(server, ...each), keepVersions),
      ) as [never, never];
      const inNamespace = (namespace: string) => storeOf(new MemoryTexts(server), keepVersions, namespace);
      const subject = { inNamespace, ...(keepVersions > 1 && { keepVersions }) };
      for (const { name, run } of storeConformance({ store: () => store, other: () => other, ...subject }))
        it(`${keepVersions}: ${name}`, run);
    }
  });

  it('a short payload is a command to write and one to read, a long one has its parts besides', async () => {
    const server = new Server();
    const records = new MemoryTexts(server);
    const store = storeOf(records);
    await store.write('a', 'short', TOKEN);
    records.commands.length = 0;
    await store.write('a', 'short', TOKEN + 1);
    await store.read('a');
    expect(records.commands.splice(0)).toEqual(['swap', 'read']);
    await store.write('a', LONG, TOKEN + 2);
    await store.read('a');
    const read = ['read', 'read', 'read']; // the record, the first part, the others
    expect(records.commands).toEqual([...Array(4).fill('put'), 'swap', ...read]);
    const other = new MemoryTexts(server);
    await storeOf(other).write('a', LONG, TOKEN + 3);
    expect(other.commands.slice(0, 6)).toEqual(['read', ...Array(4).fill('put'), 'swap']);
  });

  it('the parts of a payload are kept for a few times as long as a record, however many versions are', async () => {
    const records = new MemoryTexts(new Server());
    const retentionMs = 86_400_000;
    const store = storeOn(swappedIn(records, retentionMs), { keepVersions: 10 }, { options: [] });
    await store.write('absent', '', TOKEN, undefined, 60_000);
    expect(records.keptForMs).toEqual([]);
    await store.write('absent', LONG, TOKEN + 1, undefined, 60_000);
    const hour = 3_600_000;
    expect(records.keptForMs.splice(0)).toEqual(Array(4).fill(3 * 60_000 + hour));
    await store.write('present', LONG, TOKEN);
    expect(records.keptForMs).toEqual(Array(4).fill(3 * retentionMs + hour));
  });

  it.each([
    [1, 'its writer'],
    [3, 'its writer'],
    [3, 'another instance'],
  ])(
    'a long payload that is only confirmed for many retentions stays, with %i versions kept, and %s writes its parts once in each',
    async (keepVersions, who) => {
      const server = new Server();
      const retentionMs = 86_400_000;
      const open = (texts: MemoryTexts) =>
        storeOn(swappedIn(texts, retentionMs), { keepVersions }, { options: [] });
      const written = new MemoryTexts(server);
      const writer = open(written);
      const payloads = Array.from({ length: keepVersions }, (_, i) => `${i}${LONG}`);
      for (const [i, payload] of payloads.entries()) await writer.write('a', payload, TOKEN + i);
      const records = who === 'its writer' ? written : new MemoryTexts(server);
      const store = who === 'its writer' ? writer : open(records);
      const parts = partsIn(server).length;
      const version = TOKEN + keepVersions - 1;
      records.keptForMs.length = 0;
      const days = 40;
      for (let quarter = 1; quarter <= 4 * days; quarter += 1) {
        server.now += retentionMs / 4;
        expect(await store.confirm('a', version, `note ${quarter}`)).toMatchObject({ kind: 'written' });
        for (let turn = 0; turn < 50; turn += 1) await Promise.resolve(); // the renewal is behind
        const read = await store.read('a');
        expect([read?.payload, read?.damage]).toEqual([payloads.at(-1), undefined]);
      }
      const versions = await store.history('a');
      expect(versions.map(({ damage }) => damage)).toEqual(payloads.map(() => undefined));
      for (const [i, payload] of payloads.entries())
        expect(await store.read('a', undefined, TOKEN + i)).toMatchObject({ payload });
      expect(partsIn(server)).toHaveLength(parts);
      expect(records.keptForMs.length).toBeLessThanOrEqual(days * parts);
      expect(records.keptForMs.length).toBeGreaterThan(0);
    },
  );

  it.each([
    { id: 'x', count: 2 ** 40, bytes: 5 },
    { id: 'x', count: -1, bytes: 5 },
    { id: 5, count: 1, bytes: 5 },
    { id: 'x', count: 1, bytes: 'many' },
  ])('a payload that is in no such parts is damage, and is replaced: %o', async (text) => {
    const server = new Server();
    const store = storeOf(new MemoryTexts(server));
    await store.write('a', LONG, TOKEN);
    const [key, record] = [...server.texts].find(([name]) => !name.includes('part/')) as [string, string];
    server.texts.set(key, withFields(record, 'snapshot', { text }));
    expect((await store.read('a'))?.damage).toBeDefined();
    expect(await store.write('a', 'mended', TOKEN + 1)).toMatchObject({ kind: 'written' });
    expect(await store.read('a')).toMatchObject({ payload: 'mended' });
  });

  it.each(['', 'garbage', '1 x\n', '0 5\ntext'])(
    'a payload whose first part was edited to %j is damage',
    async (part) => {
      const server = new Server();
      const store = storeOf(new MemoryTexts(server));
      await store.write('a', LONG, TOKEN);
      server.texts.set(partsIn(server).find((key) => key.endsWith('/0')) as string, part);
      expect((await store.read('a'))?.damage).toContain('the field text');
      expect(await store.write('a', 'mended', TOKEN + 1)).toMatchObject({ kind: 'written' });
    },
  );

  it('a report is a command, after a read where the clock is not known yet', async () => {
    const records = new MemoryTexts(new Server());
    const store = storeOf(records);
    for (const _ of [1, 2]) await store.versions([], { instance: 'a', text: 'report', keepFor: 5000 });
    expect(records.commands).toEqual(['read', 'swap', 'swap']);
    expect(await store.reports()).toEqual([{ instance: 'a', text: 'report', age: 0 }]);
  });

  it('a report that was edited is left out, the others are not', async () => {
    const server = new Server();
    const store = storeOf(new MemoryTexts(server));
    for (const instance of ['a', 'b', 'c', 'd', 'e'])
      await store.versions([], { instance, text: `of ${instance}`, keepFor: 5000 });
    const keyOf = (instance: string): string =>
      [...server.texts.keys()].find((key) => key.endsWith(instance)) as string;
    const edits = { a: '{', b: 'null', c: '{"token":1,"at":1,"until":9e15}', d: '{"text":"of d"}' };
    for (const [instance, text] of Object.entries(edits)) server.texts.set(keyOf(instance), text);
    expect(await store.reports()).toEqual([{ instance: 'e', text: 'of e', age: 0 }]);
  });

  it('parts go with the last head that names them, and with a write that is refused', async () => {
    const server = new Server();
    const store = storeOf(new MemoryTexts(server), 2);
    for (const token of [1, 2, 3]) await store.write('a', LONG, TOKEN + token);
    await expect.poll(() => partsIn(server).length).toBe(8);
    const records = new MemoryTexts(server);
    records.before = (command) => {
      if (command === 'swap')
        server.texts.set('name/a\0v1', withFields(undefined, 'snapshot', { ...HEAD, token: TOKEN + 9 }));
    };
    expect(await storeOf(records).write('a', LONG, TOKEN + 4)).toEqual({
      kind: 'refused',
      version: TOKEN + 9,
    });
    await expect.poll(() => partsIn(server).length).toBe(8);
    await store.write('a', LONG, TOKEN + 10);
    await store.delete('a');
    await expect.poll(() => partsIn(server).length).toBeLessThan(9); // those that the head above has forgotten
  });

  it('parts go also where a step is taken again, because the clock was set forward meanwhile', async () => {
    const server = new Server();
    const records = new MemoryTexts(server);
    const store = storeOf(records);
    await store.write('a', LONG, TOKEN);
    records.before = (command) => {
      if (command !== 'swap') return;
      server.now += 6000;
      records.before = () => {};
    };
    await store.write('a', 'short', TOKEN + 1);
    await expect.poll(() => partsIn(server)).toEqual([]);
    expect((await store.read('a'))?.payload).toBe('short');
  });

  it('parts of a version that another write has made an older one are kept, where its own step is taken again', async () => {
    const server = new Server();
    const records = new MemoryTexts(server);
    const store = storeOf(records, 2);
    records.after = async (command) => {
      if (command !== 'swap') return;
      records.after = async () => {};
      server.now += 6000;
      await storeOf(new MemoryTexts(server), 2).write('a', LONG, TOKEN + 1);
    };
    await store.write('a', LONG, TOKEN);
    expect((await store.history('a')).map(({ version }) => version)).toEqual([TOKEN + 1, TOKEN]);
    await new Promise((resolve) => setTimeout(resolve, 10)); // parts are deleted behind the answer
    expect((await store.read('a', -1, TOKEN))?.payload).toBe(LONG);
  });

  it('earlier versions are sound where the end of the present record was edited', async () => {
    const server = new Server();
    const store = storeOf(new MemoryTexts(server), 3);
    for (const version of [TOKEN, TOKEN + 1]) await store.write('a', LONG, version);
    const key = 'name/a\0v1';
    server.texts.set(key, withFields(server.texts.get(key), 'snapshot', { until: Number.MAX_SAFE_INTEGER }));
    const history = await store.history('a');
    expect(history.map(({ damage }) => damage)).toEqual([expect.stringContaining('until'), undefined]);
    const earlier = await store.read('a', -1, TOKEN);
    expect([earlier?.payload, earlier?.damage]).toEqual([LONG, undefined]);
  });

  it('a read between the head and its parts takes the newer snapshot; a lost part is damage', async () => {
    const server = new Server();
    const store = storeOf(new MemoryTexts(server));
    await store.write('a', LONG, TOKEN);
    const records = new MemoryTexts(server);
    let reads = 0;
    records.before = () => {
      reads += 1;
      if (reads !== 2) return;
      for (const key of partsIn(server)) server.texts.delete(key);
      server.texts.set('name/a\0v1', withFields(undefined, 'snapshot', { ...HEAD, token: TOKEN + 1 }));
    };
    expect(await storeOf(records).read('a')).toMatchObject({ version: TOKEN + 1, payload: 'next' });
    await store.write('a', LONG, TOKEN + 2);
    server.texts.delete(partsIn(server)[1] as string);
    expect(await store.read('a')).toMatchObject({ payload: '', damage: expect.stringContaining('missing') });
    expect((await store.history('a'))[0]).toMatchObject({ version: TOKEN + 2, bytes: 3500 });
    server.texts.delete(partsIn(server)[0] as string);
    expect((await store.history('a'))[0]?.damage).toContain('missing');
  });

  it('a deletion leaves the lease that another instance gets meanwhile', async () => {
    const server = new Server();
    const records = new MemoryTexts(server);
    const store = storeOf(records);
    await store.write('a', LONG, TOKEN);
    const key = 'name/a\0v1';
    records.before = (command) => {
      if (command !== 'swap') return;
      records.before = () => {};
      server.texts.set(key, withFields(server.texts.get(key), 'lock', HEAD));
    };
    expect(await store.delete('a')).toBe(true);
    expect(partIn(server.texts.get(key), 'lock')).toMatchObject(HEAD);
    expect(await store.read('a')).toBeUndefined();
    await expect.poll(() => partsIn(server)).toEqual([]);
  });

  it('versions that are listed while a write deletes the oldest one are those after it', async () => {
    const server = new Server();
    const store = storeOf(new MemoryTexts(server), 2);
    for (const token of [1, 2]) await store.write('a', LONG, TOKEN + token);
    const records = new MemoryTexts(server);
    const read = records.read.bind(records);
    let reads = 0;
    records.read = async (keys) => {
      reads += 1;
      if (reads === 2) {
        await store.write('a', LONG, TOKEN + 3); // between the head and its parts
        await expect.poll(() => partsIn(server).length).toBe(8); // parts are deleted behind the answer
      }
      return read(keys);
    };
    const versions = await storeOf(records, 2).history('a');
    expect(versions.map(({ version, damage }) => [version, damage])).toEqual([
      [TOKEN + 3, undefined],
      [TOKEN + 2, undefined],
    ]);
  });

  it('an age is never less than it is', async () => {
    const server = new Server();
    await storeOf(new MemoryTexts(server, 0, 1000)).write('a', 'payload', TOKEN);
    server.now += 5000;
    expect((await storeOf(new MemoryTexts(server, -1000, 0)).read('a'))?.age).toBe(5000);
    expect((await storeOf(new MemoryTexts(server, 0, 1000)).read('a'))?.age).toBe(6000);
  });

  it.each([
    '<html>',
    '{"older":[]}',
    '{"snapshot":3}',
    '{"snapshot":{"older":[]}}',
    '{"snapshot":{"older":[{}],"token":1,"at":1,"text":""}}',
  ])('a text that is no head is damage, and refuses no write: %s', async (text) => {
    const server = new Server();
    server.texts.set('name/a\0v1', text);
    const store = storeOf(new MemoryTexts(server));
    expect(await store.read('a')).toMatchObject({ payload: '', damage: expect.any(String) });
    expect(await store.versions(['a'])).toEqual([0]);
    expect((await store.history('a'))[0]?.damage).toEqual(expect.any(String));
    expect(await store.write('a', 'next', TOKEN)).toMatchObject({ kind: 'written' });
    expect(await store.read('a')).toMatchObject({ version: TOKEN, payload: 'next' });
  });
});

const WRITTEN_AT = Date.UTC(2026, 0, 1);
const HEAD = {
  id: '',
  phase: 'held',
  at: WRITTEN_AT,
  changedAt: WRITTEN_AT,
  until: 0,
  text: 'next',
  older: [],
};

describe('split', () => {
  it('makes texts of at most that many bytes, whose characters are whole', () => {
    for (const text of ['', 'abc', 'abcdefghij', 'äöü€😀😀😀x', '😀'.repeat(50), 'a😀'.repeat(50)]) {
      const texts = split(text, 7);
      expect(texts.join('')).toBe(text);
      for (const one of texts) {
        expect(Buffer.byteLength(one)).toBeLessThanOrEqual(7);
        expect(Buffer.from(one).toString()).toBe(one);
      }
    }
    expect(split('abcdefghij', 7)).toEqual(['abcdefg', 'hij']);
  });
});
