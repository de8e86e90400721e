import type { SqliteClient } from '../../../../src/backends/sqlite.ts';
import type { DamagedField } from '../../../../src/testing/index.ts';

// What a person does by hand to the records of a lock and a store.

const HUGE_TOKEN = 9_007_199_254_740_990;

/** The assignment of a damaged column. @param far an instant in the far future, as SQL. */
export function sqlDamage(field: DamagedField, far: string): string {
  const assignments: Readonly<Record<DamagedField, string>> = {
    token: `token = ${HUGE_TOKEN}`,
    leaseUntil: `ends_at = ${far}`,
    notBefore: `ends_at = ${far}`,
    state: `phase = 'abc'`,
  };
  return assignments[field];
}

export const FAR = { postgres: `'infinity'`, mysql: `'9999-12-31 23:59:59'`, sqlite: '9e15' } as const;

/** A damaged field of a hash, and its value. */
export function redisDamage(field: DamagedField): [field: string, value: string] {
  if (field === 'state') return ['phase', 'abc'];
  return [field === 'token' ? 'token' : 'until', String(HUGE_TOKEN)];
}

/** A damaged field of a document. */
export function mongoDamage(field: DamagedField): object {
  if (field === 'token') return { token: HUGE_TOKEN };
  return field === 'state' ? { phase: 'abc' } : { until: new Date(farInstant()) };
}

/** Two years ahead. */
function farInstant(): number {
  return Date.now() + 2 * 365 * 86_400_000;
}

/** The value of a damaged field of a text that is swapped. */
export function textDamage(field: DamagedField): object {
  if (field === 'token') return { token: HUGE_TOKEN };
  return field === 'state' ? { phase: 'abc' } : { until: farInstant() };
}

/** The later time of a put in such a text. */
export function postdated({ at, changedAt }: Record<string, unknown>, ms: number): object {
  return { at: Number(at) + ms, changedAt: Number(changedAt) + ms };
}

const both = (later: (column: string) => string): string =>
  ['begun_at', 'changed_at'].map((column) => `${column} = ${later(column)}`).join(', ');

/** The later time of a write, as SQL. */
export const POSTDATED = {
  postgres: (ms: number): string => both((column) => `${column} + ${ms} * interval '1 millisecond'`),
  mysql: (ms: number): string => both((column) => `${column} + INTERVAL ${ms * 1000} MICROSECOND`),
  sqlite: (ms: number): string => both((column) => `${column} + ${ms}`),
} as const;

/** What a person does to the records of the default table of an SQLite. */
export function sqliteEdits(client: SqliteClient) {
  const run = (sql: string, name: string): void => {
    client.prepare(`${sql} WHERE name = ?`).run(name as never);
  };
  return {
    forget: (name: string): void => run('DELETE FROM tickless', `lock/${name}`),
    damage: (name: string, field: DamagedField): void =>
      run(`UPDATE tickless SET ${sqlDamage(field, FAR.sqlite)}`, `lock/${name}`),
    postdate: (name: string, ms: number): void =>
      run(`UPDATE tickless SET ${POSTDATED.sqlite(ms)}`, `snapshot/${name}`),
  };
}
