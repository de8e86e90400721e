import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ExitCode } from '../../../src/cli/command-line.ts';
import { run } from '../../../src/cli/program.ts';
import type { AuditRecord, ConsoleOptions } from '../../../src/console/index.ts';
import { nodeConsole } from '../../../src/console/node.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { Link } from '../../support/cluster.ts';

const LOGIN = 'authorization: Bearer of-ann';
const TIMEOUT = { timeout: 60_000 };

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Instances of a service that share a backend, or have none. */
function cluster({ isShared = true } = {}) {
  const backend = { isDown: false };
  const records = memoryRecords(systemClock);
  const shareable = () => {
    const link = new Link(records, { keepVersions: 5 });
    link.fault = () => (backend.isDown ? 'refused' : undefined);
    return link.backend;
  };
  const source = { prices: [1, 2, 3, 4] };
  const start = async (options: ConsoleOptions = {}) => {
    const shared = isShared && {
      backend: shareable(),
      propagateWithin: 30,
    };
    const group = new RefreshGroup({ ...shared, logger: false, retry: false, schedule: '1h' });
    const prices = group.value<readonly number[]>({
      name: 'price list',
      load: async () => source.prices,
      accept: (value) => value.length > 2 || 'too few',
    });
    await prices.get();
    const audit: AuditRecord[] = [];
    const handler = nodeConsole(group, {
      authorize: (request) => (request.headers.get('authorization') === 'Bearer of-ann' ? 'ann' : undefined),
      actions: true,
      onAudit: (record) => audit.push(record),
      ...options,
    });
    onTestFinished(() => handler.close());
    onTestFinished(() => void group.close({ timeout: 0 }));
    return { ...(await terminalOf(handler)), group, prices, audit, handler };
  };
  return { source, start, backend, shareable };
}

/** A terminal for the console behind an address. */
async function terminalOf(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const env = {
    TICKLESS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tickless`,
    TICKLESS_HEADER: LOGIN,
  };
  const questions: string[] = [];
  /** At a terminal; without an answer there is no person. */
  const type = async (args: readonly string[], answer?: boolean): Promise<Result> => {
    const [out, err]: [string[], string[]] = [[], []];
    const confirm = async (question: string): Promise<boolean> => {
      questions.push(question);
      return answer === true;
    };
    const code: ExitCode = await run(args, {
      print: (text) => void out.push(`${text}\n`),
      printError: (text) => void err.push(`${text}\n`),
      confirm: answer === undefined ? undefined : confirm,
      env,
    });
    return { code, out: out.join(''), err: err.join('') };
  };
  return { env, type, questions };
}

/** The command in a process of its own, whose input is no terminal. */
function withoutTerminal(args: readonly string[], env: Record<string, string>): Promise<Result> {
  const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));
  const { NO_COLOR: _, ...own } = process.env; // Node warns of both
  const options = { timeout: 40_000, env: { ...own, FORCE_COLOR: '1', ...env } };
  return new Promise((resolve) => {
    // Its input stays open, as that of a session over SSH does.
    execFile(process.execPath, ['--import', 'tsx', main, ...args], options, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });
}

describe('an action', () => {
  it('is carried out with the rights of the operator, and is in the audit with the reason', async () => {
    const { type, prices, audit, group } = await cluster().start();
    group.executor(() => {}, { name: 'nightly' });
    const done: [readonly string[], string][] = [];
    for (const args of [
      ['refresh', 'price list'],
      ['refresh', 'nightly'],
      ['invalidate', 'price list'],
      ['pause', 'price list'],
      ['resume', 'price list', '--here'],
    ]) {
      const { code, out } = await type([...args, '--yes', '--reason', 'ticket 7']);
      expect({ args, code }).toEqual({ args, code: 0 });
      done.push([args, out.trimEnd()]);
    }
    expect(done.map(([, out]) => out)).toEqual([
      expect.stringMatching(/^loaded, version \d+$/),
      'executed',
      'invalidated on all instances; the next read loads it',
      'paused on all instances',
      'resumed on this instance',
    ]);
    expect(audit.map(({ by, action, name, note, here }) => ({ by, action, name, note, here }))).toEqual(
      done.map(([[action, name, option]]) => ({
        by: 'ann',
        action,
        name,
        note: 'ticket 7',
        here: option === undefined ? undefined : true,
      })),
    );
    expect(prices.inspect().paused).toBe(false);
  });

  it('asks first what will happen, to which member, on how many instances', async () => {
    const { start } = cluster();
    const { type, questions, prices, group, audit } = await start();
    const other = await start();
    const load = async (code: string): Promise<string> => code;
    const cities = group.cache<string, string>({ name: 'cities', backend: 'group', load });
    group.executor(() => {}, { name: 'nightly' });
    await cities.get('1012');
    const status = async (): Promise<string> => {
      for (const read of [prices, other.prices]) await read.get(); // reports go with reads
      return (await type(['status', '--all'])).out;
    };
    await expect.poll(status).toMatch(/price list .* of 2 /);
    for (const args of [
      ['refresh', 'price list'],
      ['invalidate', 'price list', '--drop', '--here'],
      ['pause', 'price list'],
      ['invalidate', 'cities', '--drop'],
      ['refresh', 'nightly'],
    ]) {
      const { code, err } = await type(args, false);
      expect({ args, code, err }).toEqual({ args, code: 2, err: 'tickless: nothing was changed\n' });
    }
    const host = String.raw`[^ ]+( \(.+\))?`;
    expect(questions).toEqual([
      expect.stringMatching(
        `^Load price list now on ${host}, for all 2 instances\\? The others take the result over\\.$`,
      ),
      expect.stringMatching(
        `^Forget price list on ${host} only, one of 2 instances\\? The next reads wait for a load\\.$`,
      ),
      'Pause price list on all 2 instances? Reads are served the value in place, and start no loads.',
      expect.stringMatching(/^Forget all keys of cities \(1 here\) on the only instance that has it\? /),
      expect.stringMatching(/^Run nightly now on [^?]*\?$/),
    ]);
    expect([audit, prices.inspect().state, cities.size]).toEqual([[], 'fresh', 1]);
    expect((await type(['pause', 'price list'], true)).code).toBe(0);
    expect(prices.inspect().paused).toBe(true);
  });

  it('pins the present version, and loads at another pace', async () => {
    const { type, questions, prices, audit } = await cluster().start();
    await type(['pin', 'price list', '--hold', '30m'], false);
    await type(['reschedule', 'price list', '--every', '30s'], false);
    expect(questions).toEqual([
      expect.stringMatching(/^Keep the present version of price list on [^?]*, pinned for 30 min\?$/),
      expect.stringMatching(/^Load price list every 30 s from now on, on [^?]*\?$/),
    ]);
    const pin = await type(['pin', 'price list', '--hold', '30m', '--yes', '--reason', 'migration']);
    expect(pin.out).toMatch(/^version \d+ is in place as version \d+, pinned for 30 min\n$/);
    expect(prices.inspect().pinned).toMatchObject({ by: 'ann', note: 'migration' });
    expect((await type(['member', 'price list'])).out).toMatch(/^pinned by +ann: migration$/m);
    expect((await type(['unpin', 'price list', '--yes'])).code).toBe(0);
    const slower = await type(['reschedule', 'price list', '--every', '30s', '--yes']);
    expect(slower.out).toMatch(/^is loaded every 30 s from now on, on this instance, until/);
    expect(audit.map(({ action }) => action)).toEqual(['pin', 'unpin', 'reschedule']);
  });

  it('names no number of instances where they are not known', async () => {
    const { type, questions } = await cluster({ isShared: false }).start();
    await type(['pause', 'price list'], false);
    expect(questions).toEqual([expect.stringMatching(/^Pause price list on the instance that answers/)]);
    expect((await type(['pause', 'price list', '--yes'])).out).toBe('paused on this instance\n');
  });

  it('is 2 where it is refused or fails, with what to do', async () => {
    const { source, start } = cluster();
    const { type, group, prices } = await start();
    group.cache({ name: 'cities', load: async (code: string) => code });
    source.prices = [];
    for (const [args, error] of [
      [['refresh', 'price list', '--yes'], 'too few'],
      [['cancel', 'price list', '--yes'], 'no load is under way'],
      [['unpin', 'price list', '--yes'], 'no version is pinned'],
      [['refresh', 'cities', '--yes'], 'cities is a cache: refresh needs a key too'],
      [['pause', 'price', 'list', '--yes'], 'names with spaces need quotes'],
      [['refresh', 'price', 'list', '--yes'], "there is no member price\ndid you mean 'price list'?"],
      [['refresh', 'prise list', '--yes'], "did you mean 'price list'?"],
      [['refresh', 'citis', 'x', '--yes'], 'did you mean cities?'],
      [['refresh', 'weather', '--yes'], 'npx tickless status --all lists them'],
      [['pasue', 'price list'], 'Did you mean pause?'],
      [['pause'], "missing required argument 'member'"],
      [['pin', 'cities', '--yes'], 'a cache has no pin'],
      [['pin', 'price list', '--hold', '0s', '--yes'], 'must be a duration with a unit, such as 4h'],
      [['pin', 'price list', '--hold', '240', '--yes'], 'must be a duration with a unit, such as 4h'],
      [['--here', 'pause', 'price list', '--yes'], 'Options follow the command'],
      [['reschedule', 'price list', '--yes'], "required option '--every <duration>' not specified"],
    ] as const) {
      const { code, out, err } = await type(args);
      expect([args, code, out, err]).toEqual([args, 2, '', expect.stringContaining(error)]);
    }
    expect(prices.inspect().paused).toBe(false);
  });

  it('is refused by a console that is read-only, before it asks, with how to allow it', async () => {
    const { type, questions, audit, prices } = await cluster().start({ actions: ['refresh'] });
    const allow =
      "To allow it: consoleHandler(group, { actions: ['pause', …] }), and the rights that authorize returns";
    const err = `tickless: pause is not allowed: your rights leave it out\n${allow}\n`;
    expect(await type(['pause', 'price list'], true)).toEqual({ code: 2, out: '', err });
    expect(questions).toEqual([]);
    const sure = await type(['pause', 'price list', '--yes']);
    expect(sure.code).toBe(2);
    expect(sure.err).toMatch(
      /^tickless: pause is not allowed for ann: the option actions of the console.*\nTo allow it/,
    );
    expect(audit.map(({ action, result }) => ({ action, result }))).toEqual([
      { action: 'pause', result: 'refused' },
    ]);
    expect(prices.inspect().paused).toBe(false);
    expect((await type(['refresh', 'price list', '--yes'])).code).toBe(0);
  });

  it('says what instances behind one address need, where their tokens differ', async () => {
    const { start } = cluster();
    for (const [secret, code] of [
      [undefined, 2],
      ['the same on all instances, 32 characters', 0],
    ] as const) {
      const both = [await start({ secret }), await start({ secret })].map(({ handler }) => handler);
      const { type } = await terminalOf((request, response) =>
        both[request.method === 'POST' ? 1 : 0]?.(request, response),
      );
      const done = await type(['refresh', 'price list', '--yes']);
      const error =
        code === 0 ? '' : expect.stringContaining('Give the consoles of all instances behind this');
      expect({ secret, code: done.code, err: done.err }).toEqual({ secret, code, err: error });
    }
  });

  it('says what is done, and what is not, while the backend does not answer', async () => {
    const { start, backend } = cluster();
    const { type, prices } = await start();
    backend.isDown = true;
    const down = 'the backend is unavailable: ECONNREFUSED';
    const nothing = `tickless: ${down}\nNothing was changed: try again when the backend answers\n`;
    const hereOnly = 'on this instance only, do it again when the backend answers: price list: ';
    for (const [args, err] of [
      [['release', 'nightly-report'], nothing],
      [['rollback', 'price list'], nothing],
      [['pin', 'price list'], nothing],
      [['invalidate', 'price list'], `tickless: invalidated ${hereOnly}${down}\n`],
      [['refresh', 'price list'], `the value was loaded here, and is not published: ${down}\n`],
      [['pause', 'price list'], `tickless: paused ${hereOnly}${down}\n`],
    ] as const) {
      const done = await type([...args, '--yes']);
      expect({ args, ...done }).toEqual({ args, code: 2, out: '', err: expect.stringContaining(err) });
    }
    expect(prices.inspect().paused).toBe(true);
    expect((await type(['member', 'price list'])).out.match(/^backend .*$/gm)).toHaveLength(1);
  });

  it('leaves the records of the library itself out of the locks, unless they are asked for', async () => {
    const { start, shareable } = cluster();
    const { type } = await start({ backend: shareable() });
    await type(['refresh', 'price list', '--yes']);
    const internal = /^tickless-console-audit +done /m;
    await expect.poll(async () => (await type(['locks', 'tickless'])).out).toMatch(internal);
    const { out } = await type(['locks']);
    expect([/^price list +done /m.test(out), out.includes('tickless-')]).toEqual([true, false]);
  });

  it('says that it may have been carried out, where its answer is lost', async () => {
    const { handler } = await cluster().start();
    const { type } = await terminalOf((request, response) => {
      if (request.method === 'POST') request.socket.destroy();
      else handler(request, response);
    });
    const { code, err } = await type(['refresh', 'price list', '--yes']);
    expect(code).toBe(2);
    expect(err).toMatch(/does not answer: .*\nIt may have been carried out: see npx tickless status\n$/);
  });

  it('says that the login is refused, also where the service answers with a page for it', async () => {
    const authorize = (): Response => new Response('<h1>log in</h1>', { status: 401 });
    const { type } = await cluster().start({ authorize });
    const { code, err } = await type(['pause', 'price list', '--yes']);
    expect({ code, err }).toEqual({ code: 2, err: 'tickless: access is refused (401)\n' });
  });
});

it('a key is typed as a text, or as the console shows it', async () => {
  const { type, group, audit } = await cluster().start();
  const loads: unknown[] = [];
  const load = async (key: unknown) => loads.push(key);
  const texts = group.cache<unknown, number>({ name: 'texts', load });
  const numbers = group.cache<unknown, number>({ name: 'numbers', load });
  const zones = group.cache<unknown, number>({ name: 'zones', load, keyOf: JSON.stringify });
  const both = group.cache<unknown, number>({ name: 'both', load });
  const [long, zone] = ['x'.repeat(300), { zone: 7 }];
  for (const key of ['1012 AB', '7', '"quoted"', long]) await texts.get(key);
  for (const key of [7, '7']) await both.get(key);
  await numbers.get(7);
  await zones.get(zone);
  loads.length = 0;
  for (const [name, typed] of [
    ['texts', '1012 AB'],
    ['texts', '7'],
    ['texts', '"7"'],
    ['texts', JSON.stringify('"quoted"')],
    ['texts', long],
    ['texts', 'new here'],
    ['numbers', '7'],
    ['zones', '{"zone":7}'],
    ['both', '"7"'],
  ] as const) {
    const { code, err } = await type(['refresh', name, typed, '--yes']);
    expect({ typed, code, err }).toEqual({ typed, code: 0, err: '' });
  }
  expect(loads).toEqual(['1012 AB', '7', '7', '"quoted"', long, 'new here', 7, zone, '7']);
  expect(audit[0]).toMatchObject({ name: 'texts', key: '"1012 AB"' });
  const several = await type(['refresh', 'both', '7', '--yes']);
  expect([several.code, several.err]).toEqual([2, expect.stringContaining('7 could be two keys')]);
  const unknown = await type(['refresh', 'numbers', 'seven', '--yes']);
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('numbers has no key seven here')]);
  const value = await type(['refresh', 'price list', 'seven', '--yes']);
  expect([value.code, value.err]).toEqual([
    2,
    expect.stringContaining('price list has no keys: it is not a cache'),
  ]);
});

it('a member without a store is asked about without --everywhere, which it could not take', async () => {
  const { source, start } = cluster({ isShared: false });
  const { type, questions, prices } = await start();
  source.prices = [1];
  await prices.refresh().catch(() => {});
  await type(['refresh', 'price list'], false);
  await type(['refresh', '--force', 'price list'], false);
  expect(questions).toEqual([
    'Load price list now on the instance that answers?',
    'Load price list now past the guard on the instance that answers?',
  ]);
});

describe('a value that was refused at night', () => {
  it('is shown with its changes, and what showValue shows of them', async () => {
    const { source, start } = cluster();
    const { type, prices } = await start({ showValue: (value) => value });
    source.prices = [1, 9];
    await prices.refresh().catch(() => {});
    const { code, out } = await type(['member', 'price list']);
    expect(code).toBe(0);
    expect(out).toMatch(/^MEMBER +price list\nstate +fresh, 1 failure\nage +\S+ m?s\n/);
    expect(out).toMatch(/\nfailing since +\S+ m?s ago\nerror +price list: value refused: too few \(.*\)\n/);
    expect(out).toMatch(/\nREFUSED VALUE\nrefused because +too few\n/);
    expect(out).toMatch(
      /\nchanges +1 added, 3 removed, 0 changed, 1 unchanged\n\nCHANGE +PART +IN PLACE +REFUSED\n/,
    );
    expect(out).toMatch(/^added +9 +- +9$/m);
    expect(out).toMatch(/^removed +4 +4 +-$/m);
  });

  it('is found, looked at and accepted', async () => {
    const { source, start } = cluster();
    const { type, prices, questions, audit } = await start();
    source.prices = [1, 2];
    await prices.refresh().catch(() => {});
    const status = await type(['status']);
    expect(status.out).toMatch(/price list .*too few/);
    expect(status.out).toContain(
      'A value was refused: npx tickless refresh --force <member> shows what it changes, and asks',
    );
    const kept = await type(['refresh', '--force', 'price list'], false);
    expect(kept).toEqual({
      code: 2,
      out: expect.stringMatching(
        /^REFUSED VALUE\nrefused because +too few\nsince +\S+ m?s ago\nsize +2\nin place +fresh, loaded \S+ m?s ago\nchanges +0 added, 2 removed, 0 changed, 2 unchanged\n$/,
      ),
      err: 'tickless: nothing was changed\n',
    });
    expect(prices.peek()).toEqual([1, 2, 3, 4]);
    const accepted = await type(['refresh', '--force', 'price list', '--reason', 'half are sold out'], true);
    expect(accepted).toMatchObject({
      code: 0,
      out: expect.stringContaining('loaded past the guard'),
    });
    expect(questions[1]).toMatch(/^Load price list now past the guard on /);
    expect(prices.peek()).toEqual([1, 2]);
    expect(audit).toEqual([expect.objectContaining({ action: 'refresh', note: 'half are sold out' })]);
    expect((await type(['status'])).out).not.toContain('refused');
    const again = await type(['refresh', '--force', 'price list', '--yes']);
    expect(again).toMatchObject({
      code: 2,
      err: expect.stringContaining('no value of price list was refused on'),
    });
  });

  it('is shown by its changes where the console shows values, a few of each kind', async () => {
    const { type, group } = await cluster().start({ showValue: (value) => value });
    let edition: Record<string, number> = { apple: 1, pear: 2, plum: 3 };
    const fruit = group.value({
      name: 'fruit',
      load: async () => edition,
      accept: (value) => !('fig' in value),
    });
    await fruit.get();
    const more = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`new-${at}`, at]));
    edition = { apple: 9, pear: 2, fig: 4, ...more };
    await fruit.refresh().catch(() => {});
    const { out } = await type(['refresh', '--force', 'fruit'], false);
    expect(out).toMatch(/changes +31 added, 1 removed, 1 changed, 1 unchanged\n/);
    expect(out.slice(out.indexOf('CHANGE'))).toBe(
      [
        'CHANGE   PART   IN PLACE  REFUSED',
        'added    fig    -         4',
        ...[0, 1, 2, 3].map((at) => `added    new-${at}  -         ${at}`),
        'removed  plum   3         -',
        'changed  apple  1         9',
        '',
      ].join('\n'),
    );
  });

  it('is named with its instance where another one answers', async () => {
    const { source, start } = cluster();
    const [here, there] = [await start(), await start()];
    source.prices = [1];
    await there.prices.refresh().catch(() => {});
    const accept = async (): Promise<string> => {
      here.prices.current;
      there.prices.current;
      const { code, err } = await here.type(['refresh', '--force', 'price list', '--yes']);
      expect(code).toBe(2);
      return err;
    };
    await expect
      .poll(accept)
      .toMatch(/no value of price list was refused on .*\nOne was refused on .*TICKLESS_URL/);
    expect((await there.type(['refresh', '--force', 'price list', '--yes'])).code).toBe(0);
  });

  it('is not asked about where the schema refused it', async () => {
    const { type, group, questions } = await cluster().start();
    const validate = () => ({ issues: [{ message: 'no list' }] });
    const stock = group.value({
      name: 'stock',
      load: async () => 1,
      schema: { '~standard': { version: 1, validate } },
    });
    await stock.get().catch(() => {});
    const { code, err } = await type(['refresh', '--force', 'stock'], true);
    expect([code, err]).toEqual([2, expect.stringContaining('the schema refuses it: no list')]);
    expect(questions).toEqual([]);
  });
});

describe('without a terminal', () => {
  it('an action is refused with its question, and carried out with --yes', TIMEOUT, async () => {
    const { env, prices, audit } = await cluster().start();
    const refused = await withoutTerminal(['pause', 'price list'], env);
    expect(refused).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^tickless: Pause price list on .*\?.*\nWithout a terminal it can't ask, and has changed nothing: add --yes\n$/,
      ),
    });
    expect({ paused: prices.inspect().paused, audit }).toEqual({ paused: false, audit: [] });
    const done = await withoutTerminal(['pause', 'price list', '--yes'], env);
    expect(done).toEqual({ code: 0, out: 'paused on all instances\n', err: '' });
    expect(prices.inspect().paused).toBe(true);
  });

  it('tables have no colours', TIMEOUT, async () => {
    const { env } = await cluster().start();
    const { code, out } = await withoutTerminal(['status', '--all'], env);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('price list') });
    expect(out).not.toContain('\u001b');
  });
});

it('the last executions are told with their instance, trigger, outcome and error; of a cache with the key', async () => {
  const { start } = cluster();
  const { type, group } = await start();
  const cities = group.cache({
    name: 'cities',
    load: async (code: string) => (code === '0000' ? Promise.reject(new Error('no such code')) : code),
  });
  const failing = await type(['executions', 'cities']);
  expect(failing).toEqual({ code: 0, out: 'no execution has ended yet\n', err: '' });
  await cities.get('1012');
  await sleep(5); // the order is that of milliseconds
  await cities.get('0000').catch(() => {});
  expect((await type(['executions', 'cities'])).out).toMatch(
    /^BEGAN +ON +TOOK +TRIGGER +OUTCOME +KEY +ERROR\n.* ago +this instance +\S+ m?s +first +failed +"0000" +no such code\n.* loaded +"1012" +-\n$/,
  );
  expect((await type(['executions', 'cities', '1012'])).out).toMatch(
    /^BEGAN .*OUTCOME +ERROR\n.*loaded +-\n$/,
  );
  const { out } = await type(['executions', 'price list', '--json']);
  expect(JSON.parse(out)).toMatchObject([{ outcome: 'loaded', trigger: 'first' }]);
});
