import { OptionChecks } from '../option-checks.ts';

/**
 * A table as it stands in statements: each part in quotes. Nothing but letters, digits, `_` and `$` comes through, so
 * that no name can become a part of a statement.
 *
 * @param about the subject of the error: 'lock' or 'store'.
 * @throws {OptionError} when it is not a name, or a name with its schema in front.
 */
export function tableName(about: string, table: string, quoted: (identifier: string) => string): string {
  const checks = new OptionChecks(about);
  const isName = typeof table === 'string' && TABLE.test(table);
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

/** PostgreSQL would cut a longer one, so that two tables became one; MySQL takes one more. */
const LONGEST_PART = 63;

const PART = '[A-Za-z_][A-Za-z0-9_$]*';
const TABLE = new RegExp(`^${PART}(\\.${PART})?$`);
