import { createRequire } from 'node:module';
import type { SqliteQueryClient } from '../../../src/sources/queries/client-types.ts';
import type { Origin } from './origin.ts';

export const QUERY_FAULTS = ['locked', 'no table', 'empty'] as const;

interface Database extends SqliteQueryClient {
  exec(sql: string): void;
}

/** A database in memory: of Node from 22.13, else of better-sqlite3 where the tests with real servers have installed it. */
function openDatabase(): Database | undefined {
  const require = createRequire(import.meta.url);
  try {
    return new (require('node:sqlite').DatabaseSync)(':memory:');
  } catch {
    try {
      return new (createRequire(new URL('../integration/package.json', import.meta.url))('better-sqlite3'))(
        ':memory:',
      );
    } catch {
      return undefined;
    }
  }
}

/** A client of the table `flags`, with the rows of an origin: of a real SQLite where there is one. */
export class QueryOrigin {
  readonly client: SqliteQueryClient;
  readonly #origin: Origin;
  readonly #database: Database | undefined = openDatabase();

  constructor(origin: Origin) {
    this.#origin = origin;
    this.write();
    this.client = {
      prepare: (sql) => {
        const fault = this.#origin.takeFault();
        if (fault === 'locked') throw new Error('database is locked');
        if (this.#database !== undefined) return this.#database.prepare(sql);
        if (fault === 'no table') throw new Error('no such table: flags');
        return { iterate: () => this.#rowsOf(sql) };
      },
    };
  }

  /** The table as it is now: the content of the origin, or its fault. */
  write(): void {
    const { fault } = this.#origin;
    this.#database?.exec('DROP TABLE IF EXISTS flags');
    if (fault === 'no table') return;
    this.#database?.exec('CREATE TABLE flags (edition INTEGER, item TEXT)');
    for (const { edition, item } of this.#rows()) {
      this.#database?.exec(`INSERT INTO flags VALUES (${edition}, '${item}')`);
    }
  }

  #rows(): { readonly edition: number; readonly item: string }[] {
    const { fault, content } = this.#origin;
    return fault === 'empty' ? [] : content.items.map((item) => ({ edition: content.edition, item }));
  }

  /** As SQLite answers the two statements of the test. */
  #rowsOf(sql: string): Iterable<unknown> {
    const rows = this.#rows();
    if (!sql.includes('max(')) return rows;
    return [{ edition: rows[0]?.edition ?? null, count: rows.length }];
  }
}
