import type { SqliteClient } from '../../../../src/backends/sqlite.ts';
import { NAME, type Part } from '../../../../src/records/names.ts';
import type { DamagedField } from '../../../support/lock-conformance/index.ts';

// What a person does by hand to the texts of names.

const HUGE_TOKEN = 9_007_199_254_740_990;

/** The assignment that puts fields into a part of a text: `fields` is an object, as SQL. */
const WITH_FIELDS = {
  postgres: (part: Part, fields: string): string =>
    `body = jsonb_set(body::jsonb, '{${part}}', (body::jsonb -> '${part}') || ${fields}::jsonb)::text`,
  mysql: (part: Part, fields: string): string =>
    `body = JSON_MERGE_PATCH(body, JSON_OBJECT('${part}', JSON_MERGE_PATCH('{}', ${fields})))`,
  sqlite: (part: Part, fields: string): string =>
    `body = json_patch(body, json_object('${part}', json(${fields})))`,
} as const;

export type Dialect = keyof typeof WITH_FIELDS;

/** The assignment of fields of a part. @param fields as JSON. */
export function sqlFields(dialect: Dialect, part: Part, fields: string): string {
  return WITH_FIELDS[dialect](part, `'${fields}'`);
}

/** The assignment of a damaged field of a lock. */
export function sqlDamage(dialect: Dialect, field: DamagedField): string {
  return sqlFields(dialect, 'lock', JSON.stringify(textDamage(field)));
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
  postgres: (part: Part, ms: number): string =>
    `jsonb_build_object('at', (body::jsonb #>> '{${part},at}')::float8 + ${ms}, 'changedAt', (body::jsonb #>> '{${part},changedAt}')::float8 + ${ms})`,
  mysql: (part: Part, ms: number): string =>
    `JSON_OBJECT('at', JSON_VALUE(body, '$.${part}.at') + ${ms}, 'changedAt', JSON_VALUE(body, '$.${part}.changedAt') + ${ms})`,
  sqlite: (part: Part, ms: number): string =>
    `json_object('at', json_extract(body, '$.${part}.at') + ${ms}, 'changedAt', json_extract(body, '$.${part}.changedAt') + ${ms})`,
} as const;

/** The assignment of the later time of a part. */
export function sqlPostdated(dialect: Dialect, part: Part, ms: number): string {
  return WITH_FIELDS[dialect](part, POSTDATED[dialect](part, ms));
}

/** What a person does to the records of the default table of an SQLite. */
export function sqliteEdits(client: SqliteClient) {
  const run = (sql: string, name: string): void => {
    client.prepare(`${sql} WHERE name = ? AND part = ''`).run(name as never);
  };
  return {
    forget: (name: string): void => run('DELETE FROM tickless', NAME + name),
    damage: (name: string, field: DamagedField): void =>
      run(`UPDATE tickless SET ${sqlDamage('sqlite', field)}`, NAME + name),
    postdate: (name: string, ms: number): void =>
      run(`UPDATE tickless SET ${sqlPostdated('sqlite', 'snapshot', ms)}`, NAME + name),
  };
}
