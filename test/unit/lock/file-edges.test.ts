import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../src/cluster/lock-contract.ts';
import type { Lock } from '../../../src/lock/create-lock.ts';
import { fileLock } from '../../../src/lock/file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function leaseOf(lock: Lock): Promise<Lease> {
  const answer = await lock.acquire({ name: 'n' });
  if (answer.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(answer)}`);
  return answer.lease;
}

type Data = Record<string, unknown>;

/** Changes the present state of the name by hand. */
function edit(directory: string, change: (state: Data & { readonly record: Data }) => Data): void {
  const folder = join(directory, 'lock-n');
  const numbers = readdirSync(folder).map((file) => Number.parseInt(file, 10));
  const path = join(folder, `${Math.max(...numbers)}.json`);
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))));
}

describe('fileLock: a state in which a field was edited', () => {
  it.each<[string, unknown]>([
    ...(['owner', 'requestId', 'host'] as const).map((field): [string, unknown] => [field, 5]),
    ...(['notBefore', 'acquiredAt', 'finishedAt'] as const).map((field): [string, unknown] => [
      field,
      'soon',
    ]),
    ['finishedAt', 0], // of a round that is running
    ['tookOver', 'yes'],
    ['lastError', 5],
  ])('%s is %o: counts as none', async (field, value) => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    const lease = await leaseOf(lock);
    edit(directory, (state) => ({ ...state, record: { ...state.record, [field]: value } }));
    expect(await lock.inspect('n')).toBeUndefined();
    expect((await leaseOf(lock)).token).toBeGreaterThan(lease.token);
  });

  it('so does one of a name that is none', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await leaseOf(lock);
    edit(directory, (state) => ({ ...state, name: 5 }));
    expect(await lock.inspect('n')).toBeUndefined();
  });
});

describe('fileLock: after a restart of the machine', () => {
  it('a round that was running has not ended', async () => {
    const directory = temporaryDirectory();
    const lock = fileLock({ directory });
    await leaseOf(lock);
    edit(directory, (state) => ({ ...state, boot: 'another' }));
    expect(await lock.inspect('n')).toMatchObject({ state: 'running', leaseLeft: 0, finishedAgo: undefined });
  });
});

describe('fileLock: a list', () => {
  /** More than are looked up at a time. */
  const MANY = 40;

  it('has the first names, also where most can be told only by looking into their files', async () => {
    const lock = fileLock({ directory: temporaryDirectory() });
    const numbers = Array.from({ length: MANY }, (_, i) => `${i}`.padStart(2, '0'));
    const short = numbers.slice(0, 10).map((number) => `a${number}`);
    const tooLongForFolders = numbers.map((number) => `z${number}${'x'.repeat(500)}`);
    const names = [...short, ...tooLongForFolders].reverse();
    await Promise.all(names.map((name) => lock.acquire({ name })));
    const listed = async (limit: number) => (await lock.list({ limit })).map(({ name }) => name);
    expect(await listed(5)).toEqual(short.slice(0, 5));
    expect(await listed(11)).toEqual([...short, tooLongForFolders[0]]);
    expect(await listed(1000)).toEqual([...short, ...tooLongForFolders]);
  });

  it('has the first names, whatever the order of their folders', async () => {
    const lock = fileLock({ directory: temporaryDirectory() });
    const numbers = Array.from({ length: MANY }, (_, i) => `${i}`.padStart(2, '0'));
    // A capital begins with `%` there, which comes before all digits.
    const names = numbers.flatMap((number) => [`Z${number}`, `0${number}`]);
    await Promise.all(names.map((name) => lock.acquire({ name })));
    expect((await lock.list({ limit: 3 })).map(({ name }) => name)).toEqual(['000', '001', '002']);
  });
});

it('fileLock tells of a rule that is broken as of a lock', () => {
  expect(() => fileLock({ directory: '' })).toThrow(/^lock: directory must /);
  expect(() => fileLock({ directory: '/tmp/x', retention: 0 })).toThrow(/^lock: retention must /);
});
