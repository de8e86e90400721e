import { BEGINNING_LENGTH } from '../cluster/store-contract.ts';
import type { SqlBatch } from '../sql/client.ts';
import type { GivenType, SqlDialect } from '../sql/dialect.ts';
import { ofEach } from '../sql/given.ts';
import { PURGED_NAMES, type SqlTableOptions } from '../sql/sql-table.ts';

/** The tables of a store that keeps older versions, quoted. */
export interface VersionTables {
  readonly table: string;
  /** Has a row for each version, the present one included. */
  readonly versions: string;
}

/** The statements of the table of versions. */
export interface VersionStatements extends Pick<SqlTableOptions, 'expired' | 'purge'> {
  /** The steps that follow the write of several names. `:older`: how many others are kept. */
  readonly afterWrite: (count: number, isByToken: boolean, isKept: boolean) => SqlBatch['then'];
  /** The version `:version`, the present one or an older one. */
  readonly read: string;
  /** All versions. */
  readonly history: string;
  /** Deletes all versions of a name, in as many statements as the database needs. */
  readonly delete: string | SqlBatch;
}

/**
 * @param read the columns of a snapshot.
 * @param listed those without its payload.
 */
export function versionStatements(
  dialect: SqlDialect,
  { table, versions }: VersionTables,
  { read, listed }: { readonly read: string; readonly listed: string },
): VersionStatements {
  const given = (count: number, isByToken: boolean): string => {
    const columns: Record<string, GivenType> = { name: 'key', ...(isByToken ? { token: 'whole' } : {}) };
    return dialect.rows(columns, count);
  };
  /** The rows `w` that the step has written, and no others: a refused write has left another version there. */
  const written = (count: number, isByToken: boolean): string => {
    const isAccepted = isByToken ? ` AND w.version = ${ofEach('token')}` : '';
    return `${given(count, isByToken)} JOIN ${dialect.written(table)} AS w ON w.name = ${ofEach('name')}${isAccepted}`;
  };
  const row = { name: 'w.name', version: 'w.version', written_at: 'w.written_at', payload: 'w.payload' };
  const assign = (column: string): string => `${column} = ${dialect.incoming(column)}`;
  const keep = (from: string): string =>
    `INSERT INTO ${versions} ${dialect.row(row, from)} ${dialect.orUpdate('name, version')} ${assign('written_at')}, ${assign('payload')}`;
  // Some databases see the row that was just kept, others don't; so it does not count.
  const drop = (from: string): string =>
    dialect.deleteEach(
      versions,
      `SELECT DISTINCT o.name AS gone_name, o.version AS gone_version FROM ${from} JOIN ${versions} AS o ON o.name = w.name
        WHERE o.version > w.version OR (SELECT count(*) FROM ${versions} AS n
          WHERE n.name = o.name AND n.version > o.version AND n.version < w.version) >= :older`,
    );
  const isOlder = `NOT EXISTS (SELECT 1 FROM ${table} AS m WHERE m.name = ${versions}.name AND m.version <= ${versions}.version)`;
  const isOrphan = `NOT EXISTS (SELECT 1 FROM ${table} AS m WHERE m.name = ${versions}.name)`;
  const both = (columns: string, condition: string): string =>
    `SELECT ${columns} FROM ${table} WHERE ${condition} UNION ALL SELECT ${columns} FROM ${versions} WHERE ${condition} AND ${isOlder}`;
  return {
    afterWrite: (count, isByToken, isKept) => {
      const from = written(count, isByToken);
      return isKept ? [keep(from), drop(from)] : [drop(from)];
    },
    read: both(read, 'name = :name AND version = :version'),
    history: both(historyColumns(dialect, listed), 'name = :name'),
    delete: dialect.deleteBoth(table, versions),
    expired: `SELECT ${dialect.returned('name')} FROM ${versions} WHERE ${isOrphan} AND ${versions}.name > :after
      GROUP BY ${versions}.name ORDER BY ${versions}.name LIMIT :limit`,
    purge: `DELETE FROM ${versions} WHERE name IN (${PURGED_NAMES}) AND ${isOrphan}`,
  };
}

/** The columns of a version in a history. @param listed those of a snapshot without its payload. */
export function historyColumns(dialect: SqlDialect, listed: string): string {
  const line = dialect.firstLine(`substr(payload, 1, ${BEGINNING_LENGTH})`);
  return `${listed}, ${dialect.text(line)} AS beginning, ${dialect.bytes('payload')} AS bytes`;
}
