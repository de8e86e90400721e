import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { type AuditRecord, type ConsoleOptions, consoleHandler } from '../../../src/console/index.ts';
import { asItIs, shownText } from '../../../src/console/redact.ts';
import { redactHook } from '../../../src/console/redact-hook.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import { BASE, TestConsole } from '../../support/console.ts';
import { storeOf } from '../../support/parts.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';

const TOKEN = 'acme:4711:xyzzy';
const redact = (text: string): string => text.replace(/acme:\d+:\w+/g, 'acme:…');

afterEach(() => {
  Reflect.deleteProperty(Object.prototype, 'redact');
});

/** A value that fails with the token in its message, and a cache with the token as a key. */
async function failing(options: ConsoleOptions, logger: { warn(): void; error(line: string): void } | false) {
  const group = new RefreshGroup({ logger, retry: false });
  const found = new TestConsole({ actions: true, ...options }, group);
  const error = new Error(`refused ${TOKEN}`, { cause: new Error(`no such token: ${TOKEN}`) });
  const value = group.value({ name: 'v', load: () => Promise.reject(error) });
  const cache = group.cache({ name: 'c', load: async (key: string) => key });
  await cache.get(TOKEN);
  await value.get().catch(() => {});
  return { found, value };
}

/** What a page is sent until there are events. */
async function streamed({ handler }: TestConsole, act: () => Promise<unknown>): Promise<string> {
  const { body } = await handler(new Request(new URL('api/live', BASE)));
  const reader = body!
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let text = '';
  const next = async (): Promise<void> => {
    text += (await reader.read()).value;
  };
  await next();
  await act();
  while (!/event: events\n.*load-ended.*\n\n/.test(text)) await next();
  await reader.cancel();
  return text;
}

describe('a token of the company', () => {
  it('is hidden in the overview, a member, a cache, the stream, the audit, and errors', async () => {
    const records: AuditRecord[] = [];
    const down = (): Promise<never> => Promise.reject(new Error(`lock: ${TOKEN}`));
    const broken = asLock({ acquire: down, extend: down, release: down, list: down });
    const backend = memoryBackend();
    const onAudit = (record: AuditRecord): void => void records.push(record);
    const { found, value } = await failing({ redact, onAudit, backend, locks: [broken] }, false);
    const live = await streamed(found, () => value.refresh().catch(() => {}));
    const failed = await found.act('refresh', { id: 'v', note: `for ${TOKEN}` });
    const answers = [await found.get('api/overview'), await found.get('api/member?id=v')];
    answers.push(
      failed,
      await found.get('api/keys?id=c'),
      await found.get('api/audit'),
      await found.get('api/locks'),
    );
    for (const text of [live, ...answers.map((one) => one.text), JSON.stringify(records)]) {
      expect(text).toContain('acme:…');
      expect(text).not.toContain('xyzzy');
    }
    expect([failed.status, records.length]).toEqual([502, 1]);
    const journal = JSON.stringify(await storeOf(backend).read('tickless-console-audit'));
    expect(journal).not.toContain('xyzzy');
    await found.handler.close();
  });

  it('as a key leaves the key an id by which it is found', async () => {
    const { found } = await failing({ redact }, false);
    const [row] = (await found.get('api/keys?id=c')).body.keys;
    expect(row.id).toMatch(/^#/);
    const { status, body } = await found.get(`api/member?id=c&key=${encodeURIComponent(row.id)}`);
    expect([status, body.key]).toEqual([200, { id: row.id, text: '"acme:…"' }]);
  });

  it('is hidden before a text is cut, at whatever place', () => {
    for (let before = 0; before < 30; before++) {
      const shown = shownText(`${'-'.repeat(before)} ${TOKEN} failed`, 30, redact);
      expect(shown).not.toContain('4711');
    }
  });
});

describe('the option redact', () => {
  it('sees a text once, after known credentials are hidden', () => {
    const seen: string[] = [];
    const hook = redactHook((text) => {
      seen.push(text);
      return `${text}!`;
    }, false);
    const shown = shownText('connect redis://:hunter2@queue', 100, hook);
    expect([shown, hook(shown), seen]).toEqual([
      'connect redis://[hidden]@queue!',
      'connect redis://[hidden]@queue!',
      ['connect redis://[hidden]@queue'],
    ]);
  });

  const broken: readonly [string, (text: string) => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('broken, password=hunter2');
      },
    ],
    ['returns nothing', () => undefined],
    ['returns a number', () => 1],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ];
  it.each(broken)('hides all of a text where it %s, and is logged once', async (_, hook) => {
    const lines: string[] = [];
    const logger = { warn: () => {}, error: (line: string) => void lines.push(line) };
    const { found } = await failing({ redact: hook as never }, logger);
    for (const path of ['api/overview', 'api/member?id=v', 'api/overview']) {
      const { status, text } = await found.get(path);
      expect([status, /refused(?!":)/.test(text)]).toEqual([200, false]); // beside the name of a count
      expect(text).toContain('[hidden]');
    }
    const { members } = (await found.get('api/overview')).body;
    expect(members.map(({ id, name }: Record<string, string>) => [id, name])).toEqual([
      ['v', 'v'],
      ['c', 'c'],
    ]);
    const [key] = (await found.get('api/keys?id=c')).body.keys;
    expect((await found.get(`api/member?id=c&key=${encodeURIComponent(key.id)}`)).status).toBe(200);
    expect(lines.filter((line) => line.includes('redact'))).toHaveLength(1);
    expect(lines.join()).not.toContain('hunter2');
    expect((await found.act('pause', { id: 'v' })).status).toBe(200); // the token of the session is as it was
  });

  it('is logged by a logger that rejects, or throws, without an unhandled rejection', async () => {
    const unhandled = unhandledRejections();
    const broken = (): never => {
      throw new Error('broken');
    };
    const lines: string[] = [];
    const loggers: ((line: string) => unknown)[] = [
      async (line: string) => {
        lines.push(line);
        broken();
      },
      broken,
    ];
    for (const error of loggers) {
      expect(redactHook(broken, { warn: () => {}, error: error as () => void })('text')).toBe('[hidden]');
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect([lines.length, unhandled]).toEqual([1, []]);
  });

  it('must be a function, and a property of the options themselves', async () => {
    expect(() => consoleHandler(new RefreshGroup(), { redact: 'acme' as never })).toThrow(
      /redact must be a function/,
    );
    const inherited = vi.fn(asItIs);
    Object.assign(Object.prototype, { redact: inherited });
    const { found } = await failing({}, false);
    expect((await found.get('api/overview')).text).toContain(TOKEN);
    expect(inherited).not.toHaveBeenCalled();
  });
});
