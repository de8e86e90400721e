import { keep, loaded } from '../../../src/index.ts';
import { ownNotes, type Source } from '../../../src/sources/source.ts';
export interface SqliteQueryClient {
  prepare(sql: string): { iterate(...values: never[]): Iterable<unknown> };
}
export function querySource<R, T>({
  client,
  sql,
  changed,
  map,
}: {
  client: SqliteQueryClient;
  sql: string;
  changed: string;
  map: (rows: R[]) => T;
}): Source<T> {
  return async (context) => {
    const mark = JSON.stringify([...client.prepare(changed).iterate()]);
    if (ownNotes(context, sql)?.mark === mark) return keep();
    return loaded(map([...client.prepare(sql).iterate()] as R[]), { meta: { source: sql, mark } });
  };
}
