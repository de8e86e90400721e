import { execFile } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/program.ts';

const closes: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closes.splice(0)) close();
});

async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closes.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/tickless`;
}

async function type(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await run(args, {
    print: (text) => {
      out += `${text}\n`;
    },
    printError: (text) => {
      err += `${text}\n`;
    },
    confirm: undefined,
    env: {},
  });
  return { code, out, err };
}

const MARKS = '\u200e\u200f\u061c\u202e\u2066';
const RAW = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

describe('an answer that is not of a console', () => {
  for (const body of [
    { members: [] },
    { group: { name: '\u001b[2J' }, members: [{ level: '\u001b[2J' }] },
    { at: '\u001b[2J', group: null, ok: true, instances: [], members: [] },
    [],
    null,
  ]) {
    it(`is refused with one line: ${JSON.stringify(body)}`, async () => {
      const url = await serve((response) => response.end(JSON.stringify(body)));
      for (const more of [[], ['--json']]) {
        const { code, out, err } = await type('status', '--url', url, ...more);
        expect({ code, out }).toEqual({ code: 2, out: '' });
        expect(err).toMatch(/^tickless: the answer \(200\) is not that of a console.*\n$/);
      }
    });
  }

  it.each([
    ['history', 'v'],
    ['locks'],
    ['rollback', 'v', '--yes'],
    ['release', 'v', '--token', '1', '--yes'],
    ['refresh', 'v', '--force', '--yes'],
  ])('is refused by %s too, with one line', async (...command) => {
    for (const body of [{ members: [], token: 7, history: 5 }, [], null, '\u001b[2J']) {
      const url = await serve((response) => response.end(JSON.stringify(body)));
      const { code, out, err } = await type(...command, '--url', url);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toMatch(/^tickless: [^\n]*\n$/);
      expect(err).not.toMatch(RAW);
      expect(err).not.toContain('Cannot read properties');
    }
  });

  it.each([301, 302, 303, 307, 308])('is not looked for elsewhere: %i', async (status) => {
    const asked: unknown[] = [];
    const target = await serve((response) => {
      asked.push(response.req.headers);
      response.end('{}');
    });
    for (const location of ['/elsewhere', target]) {
      const url = await serve((response) => {
        asked.push(response.req.url);
        response.writeHead(status, { location }).end();
      });
      const { code, out, err } = await type('status', '--url', url, '--header', 'authorization: hunter2');
      expect({ code, out, lines: err.trimEnd().split('\n').length }).toEqual({ code: 2, out: '', lines: 1 });
      expect(err).not.toContain('hunter2');
    }
    expect(asked).toEqual(Array(2).fill('/tickless/api/overview'));
  });

  it('of an error is one line too, with all marks escaped', async () => {
    const error = { code: 'x', message: `no\nway ${MARKS}\u001b[2J` };
    const url = await serve((response) => response.writeHead(500).end(JSON.stringify({ error })));
    const { code, err } = await type('status', '--url', url);
    expect({ code, lines: err.trimEnd().split('\n').length }).toEqual({ code: 2, lines: 1 });
    expect(err).not.toMatch(RAW);
  });

  it('is read to 10 MB', async () => {
    let sent = 0;
    const url = await serve((response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('a'.repeat(100_000))) sent += 100_000;
      };
      response.on('drain', more).on('error', () => {});
      more();
    });
    const { code, err } = await type('status', '--url', url);
    expect([code, err]).toEqual([2, 'tickless: the answer is longer than 10 MB: is --url right?\n']);
    expect(sent).toBeLessThan(40_000_000); // what was on its way included
  });
});

it('direction marks are escaped in tables and in JSON', async () => {
  const group = { name: MARKS, closed: false };
  const body = { at: 0, group, ok: true, instances: [], members: [], further: 1 };
  const url = await serve((response) => response.end(JSON.stringify(body)));
  for (const more of [[], ['--json']]) {
    const { code, out } = await type('status', '--url', url, ...more);
    expect(code).toBe(0);
    expect(out).not.toMatch(RAW);
    expect(out).toContain('\\u200e\\u200f\\u061c');
  }
});

describe('a malformed address', () => {
  for (const url of [
    'htp://ann:hunter2@host',
    'http://ann:hun ter2@hunter2:x',
    'ann:hunter2@host',
    'http://ann:hunter2@host:99999',
    'http://ann:hunter2@host/',
  ]) {
    it(`is not repeated: ${url}`, async () => {
      const { code, out, err } = await type('status', '--url', url);
      expect({ code, out, lines: err.trimEnd().split('\n').length }).toEqual({ code: 2, out: '', lines: 1 });
      expect(err).not.toMatch(/hun ?ter2/);
    });
  }

  it('is not repeated where the option is misspelt', async () => {
    const { code, err } = await type('status', '--ulr=http://ann:hunter2@host');
    expect(code).toBe(2);
    expect(err).not.toContain('hunter2');
  });
});

describe('an answer that does not end', () => {
  // The time-outs of the platform, which a garbage collection must not take away, a tenth as long.
  const client = `
    const timeout = AbortSignal.timeout;
    AbortSignal.timeout = (ms) => {
      console.error('within ' + ms);
      return timeout.call(AbortSignal, ms / 10);
    };
    const { run } = await import(${JSON.stringify(new URL('../../../src/cli/program.ts', import.meta.url).href)});
    setInterval(gc, 20).unref();
    process.exitCode = await run(['status', '--url', process.argv[1]], {
      print: console.log, printError: console.error, confirm: undefined, env: {},
    });
    process.exit();`;
  for (const [what, answer] of Object.entries({
    'stalls after its headers': (response: ServerResponse) => response.flushHeaders(),
    'drips a byte in a tenth of a second': (response: ServerResponse) => {
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer)).write('{');
    },
  })) {
    it(`as it ${what} is given up, also after a garbage collection`, { timeout: 60_000 }, async () => {
      const url = await serve(answer);
      const args = ['--expose-gc', '--import', 'tsx', '--input-type=module', '-e', client, url];
      const { code, err } = await new Promise<{ code: unknown; err: string }>((resolve) =>
        execFile(process.execPath, args, { timeout: 50_000 }, (error, _, stderr) =>
          resolve({ code: error?.code, err: stderr }),
        ),
      );
      expect(err).toMatch(/^within 15000\ntickless: http:\S+ does not answer: .*time.*\n$/i);
      expect(code).toBe(2);
    });
  }
});
