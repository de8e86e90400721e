import type { SqliteClient } from '../../../../src/backends/sqlite.ts';
import type { DamagedField } from '../../../../src/testing/index.ts';

// What a person does by hand to the records of a lock and a store.

const HUGE_TOKEN = 9_007_199_254_740_990;

/** The assignment that puts fields into the text of a record: `fields` is an object, as SQL. */
const WITH_FIELDS = {
  postgres: (fields: string): string => `body = (body::jsonb || ${fields}::jsonb)::text`,
  mysql: (fields: string): string => `body = JSON_MERGE_PATCH(body, ${fields})`,
  sqlite: (fields: string): string => `body = json_patch(body, ${fields})`,
} as const;

export type Dialect = keyof typeof WITH_FIELDS;

/** The assignment of fields of a record. @param fields as JSON. */
export function sqlFields(dialect: Dialect, fields: string): string {
  return WITH_FIELDS[dialect](`'${fields}'`);
}

/** The assignment of a damaged field. */
export function sqlDamage(dialect: Dialect, field: DamagedField): string {
  return sqlFields(dialect, JSON.stringify(textDamage(field)));
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

const POSTDATED = {
  postgres: (ms: number): string =>
    `jsonb_build_object('at', (body::jsonb ->> 'at')::float8 + ${ms}, 'changedAt', (body::jsonb ->> 'changedAt')::float8 + ${ms})`,
  mysql: (ms: number): string =>
    `JSON_OBJECT('at', JSON_VALUE(body, '$.at') + ${ms}, 'changedAt', JSON_VALUE(body, '$.changedAt') + ${ms})`,
  sqlite: (ms: number): string =>
    `json_object('at', json_extract(body, '$.at') + ${ms}, 'changedAt', json_extract(body, '$.changedAt') + ${ms})`,
} as const;

/** The assignment of the later time of a put. */
export function sqlPostdated(dialect: Dialect, ms: number): string {
  return WITH_FIELDS[dialect](POSTDATED[dialect](ms));
}

/** What a person does to the records of the default table of an SQLite. */
export function sqliteEdits(client: SqliteClient) {
  const run = (sql: string, name: string): void => {
    client.prepare(`${sql} WHERE name = ? AND part = ''`).run(name as never);
  };
  return {
    forget: (name: string): void => run('DELETE FROM tickless', `lock/${name}`),
    damage: (name: string, field: DamagedField): void =>
      run(`UPDATE tickless SET ${sqlDamage('sqlite', field)}`, `lock/${name}`),
    postdate: (name: string, ms: number): void =>
      run(`UPDATE tickless SET ${sqlPostdated('sqlite', ms)}`, `snapshot/${name}`),
  };
}
