import { OptionChecks } from '../../option-checks.ts';

/** The default name of the table. */
export const TABLE = 'tickless';

/**
 * A table name as used in statements, each part quoted. Only letters, digits, `_` and `$` are accepted, so that a name
 * can't inject SQL.
 *
 * @throws {TicklessError} `OPTION` when it is neither a name nor a name with its schema.
 */
export function tableName(table: string, quoted: (identifier: string) => string): string {
  const checks = new OptionChecks('backend');
  const isName = typeof table === 'string' && NAME.test(table);
  checks.that(isName, 'table', 'must be a name of letters, digits, _ and $, or schema.name', table);
  const isShort = !isName || table.split('.').every((part) => part.length <= LONGEST_PART);
  checks.that(
    isShort,
    'table',
    `must have at most ${LONGEST_PART} characters, and so must the schema`,
    table,
  );
  checks.done();
  return table.split('.').map(quoted).join('.');
}

/** PostgreSQL would cut a longer name, so that two tables became one; MySQL accepts 64. */
const LONGEST_PART = 63;

const PART = '[A-Za-z_][A-Za-z0-9_$]*';
const NAME = new RegExp(`^${PART}(\\.${PART})?$`);
