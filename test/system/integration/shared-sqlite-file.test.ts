import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, expect, inject, it } from 'vitest';
import { sqliteBackend } from '../../../src/backends/sqlite.ts';
import { storeOf } from '../../support/parts.ts';
import { runFixture } from './support/child.ts';

const PROCESSES = 6;
const ROUNDS = 100;

const directory = mkdtempSync(join(tmpdir(), 'tickless-sqlite-'));
afterAll(() => rmSync(directory, { recursive: true }));

const node = inject('nodeWithSqlite');
const drivers = node === undefined ? ['better-sqlite3'] : ['better-sqlite3', 'node:sqlite'];

it.each(['WAL', 'DELETE'])(
  'processes that share a file, made by the first of them (journal mode %s), are never inside together',
  async (mode) => {
    const [file, journal] = [join(directory, `${mode}.db`), join(directory, `${mode}.txt`)];
    new Database(file).pragma(`journal_mode = ${mode}`); // empty: the processes make the tables, all at once
    writeFileSync(journal, '');
    const ended = await Promise.all(
      Array.from({ length: PROCESSES }, (_, i) => {
        const driver = drivers[i % drivers.length] as string;
        const args = [driver, file, journal, `${PROCESSES}`, `${ROUNDS}`];
        return runFixture('sqlite-rounds', { args, node: driver === 'node:sqlite' ? node : undefined });
      }),
    );
    for (const { code, stderr } of ended) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });

    const entries = readFileSync(journal, 'utf8').trim().split('\n');
    expect(entries.length).toBeGreaterThanOrEqual(2 * ROUNDS);
    const rounds = entries.filter((_, i) => i % 2 === 0).map((entry) => entry.slice('in '.length));
    expect(entries).toEqual(rounds.flatMap((round) => [`in ${round}`, `out ${round}`]));
    const tokens = rounds.map((round) => Number(round.split(' ')[0]));
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    expect(new Set(rounds.map((round) => round.split(' ')[1])).size).toBe(PROCESSES);

    const database = new Database(file);
    expect((await storeOf(sqliteBackend({ client: database })).read('rounds'))?.version).toBe(tokens.at(-1));
    database.close();
  },
);
