import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { type FileSourceOptions, fileSource } from '../../../src/sources/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { SourceUser } from './source-context.ts';

const LONG_AGO = new Date('2026-01-02T03:04:05.678Z');

/** Writes a file that was last changed a while ago. */
function write(path: string, text: string | Uint8Array, changedAt: Date = LONG_AGO): void {
  writeFileSync(path, text);
  utimesSync(path, changedAt, changedAt);
}

function setUp(
  text: string | Uint8Array,
  options?: FileSourceOptions<unknown>,
  name: string = 'prices.json',
) {
  const path = join(temporaryDirectory(), name);
  write(path, text);
  return { path, user: new SourceUser(fileSource(path, options)) };
}

it('reads a file once, until its time, its size or its inode changes', async () => {
  const { path, user } = setUp('{"a":1}');
  expect(await user.load()).toEqual({ a: 1 });
  expect(user.meta).toMatchObject({ source: path, editedAt: LONG_AGO.getTime(), size: 7 });
  expect(await user.load()).toBe('kept');
  write(path, '{"a":2}', new Date(LONG_AGO.getTime() + 1));
  expect(await user.load()).toEqual({ a: 2 });
  write(path, '{"a":33}', new Date(LONG_AGO.getTime() + 1));
  expect(await user.load()).toEqual({ a: 33 });
  write(`${path}.new`, '{"a":44}', new Date(LONG_AGO.getTime() + 1));
  renameSync(`${path}.new`, path);
  expect(await user.load()).toEqual({ a: 44 });
  expect(await user.load()).toBe('kept');
});

it('sees an edit of the same size, whose time of change was set back', async () => {
  const { path, user } = setUp('{"a":1}');
  await user.load();
  write(path, '{"a":2}');
  expect(await user.load()).toEqual({ a: 2 });
});

it('reads a file again that had just been changed, since another change may have left the same time', async () => {
  const { path, user } = setUp('1');
  writeFileSync(path, '2');
  expect(await user.load()).toBe(2);
  expect(user.meta).not.toHaveProperty('mtimeNs');
  expect(await user.load()).toBe(2);
});

it('does not keep the value of another source', async () => {
  const { user } = setUp('1');
  await user.load();
  user.previous = { value: 2, loadedAt: 0, meta: { ...user.meta, source: '/elsewhere' } };
  expect(await user.load()).toBe(1);
  user.previous = { value: 2, loadedAt: 0 };
  expect(await user.load()).toBe(1);
});

it('sees the swap of ..data, as Kubernetes mounts a ConfigMap', async () => {
  const directory = temporaryDirectory();
  const publish = (edition: string, text: string): void => {
    mkdirSync(join(directory, edition));
    write(join(directory, edition, 'prices.json'), text); // of the same size and time as the one before
    symlinkSync(edition, join(directory, '..data_tmp'));
    renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  };
  publish('..2026_11_28_08_00_00.1', '{"a":1}');
  symlinkSync(join('..data', 'prices.json'), join(directory, 'prices.json'));
  const user = new SourceUser(fileSource(join(directory, 'prices.json')));
  expect(await user.load()).toEqual({ a: 1 });
  expect(await user.load()).toBe('kept');
  publish('..2026_11_28_09_00_00.2', '{"a":2}');
  rmSync(join(directory, '..2026_11_28_08_00_00.1'), { recursive: true });
  expect(readlinkSync(join(directory, '..data'))).toBe('..2026_11_28_09_00_00.2');
  expect(await user.load()).toEqual({ a: 2 });
  expect(await user.load()).toBe('kept');
});

it('takes a file: URL, as a URL or as a text', async () => {
  const { path } = setUp('1', {}, 'a b.json');
  const url = pathToFileURL(path);
  for (const each of [url, url.href]) {
    const user = new SourceUser(fileSource(each));
    expect(await user.load()).toBe(1);
    expect(user.meta?.source).toBe(url.href);
  }
});

/** From now on, as if no time passed until the test is over: a busy machine would make pauses. */
function stopDate(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

const justNow = (path: string): void => utimesSync(path, new Date(), new Date(Date.now() - 20));

it.each([
  ['in place, after it was truncated', true],
  ['by a writer that began before the first reading', false],
])('does not take a half-written file: %s', async (_, isOver) => {
  const { path, user } = setUp(`"${'a'.repeat(20_000_000)}"`);
  stopDate();
  const parts = [`"${'b'.repeat(4_000_000)}`, `${'b'.repeat(5_000_000)}"`] as const;
  const write = async (): Promise<void> => {
    truncateSync(path, 0);
    const file = openSync(path, 'r+');
    writeSync(file, parts[0]);
    justNow(path);
    await new Promise((resolve) => setTimeout(resolve, 15));
    writeSync(file, parts[1]); // and with that a time after the one that stands still: it is done
    closeSync(file);
  };
  const written = isOver ? undefined : write();
  const load = user.load();
  // In the midst of the first reading: some turns of the event loop after its beginning.
  for (let turn = 0; turn < 4 && isOver; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await (written ?? write());
  expect(await load).toBe('b'.repeat(9_000_000));
});

/** Calls it every few milliseconds until the test is over. */
function keepOn(write: () => void): void {
  stopDate();
  write();
  const timer = setInterval(write, 5);
  onTestFinished(() => clearInterval(timer));
}

it('fails after some times when a file grows all the time, also where it was not changed during a reading', async () => {
  const { path, user } = setUp('{"row":0}\n', { parse: 'ndjson' });
  keepOn(() => {
    appendFileSync(path, '{"row":1}\n');
    justNow(path);
  });
  await expect(user.load()).rejects.toThrow(`${path} was changed each of the 6 times that it was read`);
});

it('takes a file that is replaced by a whole one all the time', async () => {
  const { path, user } = setUp('[1]');
  keepOn(() => {
    writeFileSync(`${path}.new`, '[2]');
    justNow(`${path}.new`);
    renameSync(`${path}.new`, path);
  });
  expect(await user.load()).toEqual([2]);
});

it('fails after some times when a file is changed all the time', async () => {
  const { path, user } = setUp(`"${'a'.repeat(2_000_000)}"`);
  let isOver = false;
  const writer = (async () => {
    for (let size = 0; !isOver; size += 1) {
      truncateSync(path, 3_000_000 + size);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await expect(user.load()).rejects.toThrow(`${path} was changed each of the 6 times that it was read`);
  isOver = true;
  await writer;
});

it('refuses more than maxBytes, before it reads and while it does', async () => {
  const { path, user } = setUp('[1234567]', { maxBytes: 9 });
  expect(await user.load()).toEqual([1_234_567]);
  write(path, '[12345678]');
  const message = `${path} has more than maxBytes (9) bytes`;
  await expect(user.load()).rejects.toThrow(message);
});

it.runIf(process.platform === 'linux')('bounds a file that does not tell its size', async () => {
  const path = '/proc/self/status';
  expect(statSync(path).size).toBe(0);
  const whole = await new SourceUser(fileSource<string>(path, { parse: 'text' })).load();
  expect(whole).toContain('VmRSS');
  const bounded = new SourceUser(fileSource(path, { parse: 'text', maxBytes: 100 }));
  await expect(bounded.load()).rejects.toThrow(`${path} has more than maxBytes (100) bytes`);
});

const OF_SYS = ['/sys/kernel/mm/transparent_hugepage/enabled', '/sys/devices/system/cpu/online'].filter(
  existsSync,
);

it.runIf(OF_SYS.length > 0)(
  'reads a file whose size is that of a page, and never keeps it by its times',
  async () => {
    for (const path of OF_SYS) {
      const text = readFileSync(path, 'utf8');
      expect(statSync(path).size).not.toBe(text.length);
      const user = new SourceUser(fileSource(path, { parse: 'text' }));
      expect(await user.load()).toBe(text);
      expect(user.meta).not.toHaveProperty('mtimeNs');
      expect(await user.load()).toBe(text);
    }
  },
);

it.runIf(process.platform === 'linux')('never keeps a file of /proc by its times', async () => {
  const user = new SourceUser(fileSource<string>('/proc/uptime', { parse: 'text' }));
  const first = await user.load();
  await vi.waitFor(async () => expect(await user.load()).not.toBe(first));
  expect(user.meta).not.toHaveProperty('mtimeNs');
});

it.each<[what: string, make: (path: string) => unknown, problem: string]>([
  ['a directory', (path) => mkdirSync(path), 'is a directory, not a file'],
  ['a pipe', (path) => execFileSync('mkfifo', [path]), 'is a device, a pipe or a socket, not a file'],
  ['a device', (path) => symlinkSync('/dev/zero', path), 'is a device, a pipe or a socket, not a file'],
  ['a socket', listen, 'is a device, a pipe or a socket, not a file'],
  ['nothing', () => {}, 'does not exist'],
  ['a link to nothing', (path) => symlinkSync('nowhere', path), 'does not exist'],
  ['a link to itself', (path) => symlinkSync('it', path), 'is a link that leads to itself'],
])('%s is an error at once, and the value stays', async (_, make, problem) => {
  const directory = temporaryDirectory();
  const path = join(directory, 'it');
  write(path, '1');
  const logger = { warn() {}, error() {} };
  const load = fileSource<number>(path);
  const value = new RefreshingValue({ name: 'it', load, logger, retry: false, clock: new FakeClock() });
  await value.get();
  rmSync(path);
  await make(path);
  await expect(value.refresh()).rejects.toMatchObject({ cause: { message: `${path} ${problem}` } });
  expect(value.current).toBe(1);
  await value.close();
});

async function listen(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

it('a path below a file does not exist', async () => {
  const { path } = setUp('1');
  const below = new SourceUser(fileSource(join(path, 'x')));
  await expect(below.load()).rejects.toThrow('does not exist: one of its directories is a file');
});

it.runIf(process.getuid?.() !== 0)('a file that may not be read', async () => {
  const { path, user } = setUp('1');
  chmodSync(path, 0);
  await expect(user.load()).rejects.toThrow(`${path} may not be read by this process (EACCES)`);
});

it.each<[what: string, text: string | Uint8Array, options: FileSourceOptions<unknown>, problem: string]>([
  ['JSON', '{"a":\n1,}', {}, 'line 2, column 3, is not JSON'],
  ['UTF-8', new Uint8Array([0x22, 0x61, 0xff, 0x22]), {}, 'byte 2 is not UTF-8'],
  ['an empty file', '', {}, 'it is empty, not JSON'],
  ['a parser of the user', 'x', { parse: () => JSON.parse('{') }, ''],
])('names what is wrong with %s', async (_, text, options, problem) => {
  const { path, user } = setUp(text, options);
  const error = await user.load().catch((reason: unknown) => reason as Error);
  expect(error).toMatchObject({ cause: expect.any(Error) });
  expect((error as Error).message).toContain(`${path}: ${problem}`);
});

it('parses as it is told', async () => {
  expect(await setUp('a,b\n1,2\n', { parse: 'csv' }).user.load()).toEqual([{ a: '1', b: '2' }]);
  expect(await setUp('1\n\n2\n', { parse: 'ndjson' }).user.load()).toEqual([1, 2]);
  expect(await setUp('\uFEFFa', { parse: 'text' }).user.load()).toBe('a');
  expect(await setUp('abc', { parse: ({ bytes }) => bytes.length }).user.load()).toBe(3);
});

it('rejects with the reason of its signal', async () => {
  const { user } = setUp('1');
  const reason = new Error('enough');
  await expect(user.load(AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(await user.load()).toBe(1);
});

it('reads a file with a path that does not fit into its notes', async () => {
  const long = `${'./'.repeat(1100)}package.json`;
  const source = fileSource(long);
  const value = new RefreshingValue({ name: 'long', load: source, logger: false });
  expect(await value.get()).toMatchObject({ name: 'tickless' });
  expect(value.inspect().meta?.source).toHaveLength(300);
  await value.refresh();
  expect(value.inspect().counts.kept).toBe(0);
  await value.close();
});

it('checks its options at once', () => {
  expect(() => fileSource('prices.json', null as never)).not.toThrow();
  const code = 'OPTION';
  const refuse = (path: unknown, options?: object): void =>
    expect(() => fileSource(path as string, options)).toThrow(expect.objectContaining({ code }));
  refuse('');
  refuse('a\0b');
  refuse(undefined);
  refuse(new URL('https://prices.example/all'));
  refuse('s3://prices/all');
  expect(() => fileSource('https://user:SECRET@prices.example/all')).toThrow(
    'path must be a path or a file: URL, received "https://prices.example/all"',
  );
  refuse('a', { maxBytes: 0 });
  refuse('a', { maxBytes: '10' });
  refuse('a', { parse: 'xml' });
  expect(() => fileSource('a', { maxbytes: 1 } as object)).toThrow('did you mean maxBytes?');
});
