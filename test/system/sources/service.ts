import { join } from 'node:path';
import { RefreshingValue } from '../../../src/index.ts';
import {
  fileSource,
  firstOf,
  httpSource,
  mergeOf,
  querySource,
  type Source,
} from '../../../src/sources/index.ts';
import type { VirtualProcess } from '../../../src/testing/virtual/virtual-instance.ts';
import type { virtualFetch } from './http-origin.ts';
import type { Edition } from './origin.ts';
import type { QueryOrigin } from './query-origin.ts';
import type { RealWork } from './real-work.ts';

const PERIOD_MS = 60_000;

interface Surroundings {
  readonly folder: string;
  readonly table: QueryOrigin;
  readonly fetch: ReturnType<typeof virtualFetch>;
  readonly work: RealWork;
}

interface Flags {
  readonly flags: Edition;
  readonly limits: Edition;
}

export interface Service {
  readonly prices: RefreshingValue<Edition>;
  readonly countries: RefreshingValue<Edition>;
  readonly flags: RefreshingValue<Flags>;
}

const notEmpty = ({ items }: Edition): boolean | string => items.length > 0 || 'it is empty';

/** Three values: of a service over HTTP with a file as its backup, of a file, and of a query with a part over HTTP. */
export function makeService(
  { folder, table, fetch, work }: Surroundings,
  { clock, backend, random }: VirtualProcess<unknown>,
): Service {
  const http = (host: string): Source<Edition> =>
    work.watch(httpSource(`https://${host}/all.json`, { fetch }));
  const file = (name: string): Source<Edition> => work.watch(fileSource(join(folder, name)));
  const order = { accept: notEmpty, clock, random };
  const query = querySource<{ edition: number; item: string }, Edition>({
    client: table.client,
    sql: 'SELECT edition, item FROM flags',
    changed: 'SELECT max(edition) AS edition, count(*) AS count FROM flags',
    map: (rows) => ({
      origin: 'flags',
      edition: rows[0]?.edition ?? 0,
      madeAt: 0,
      items: rows.map(({ item }) => item),
    }),
  });
  const limits = firstOf(http('limits'), http('limits-mirror'), order);
  const common = { schedule: PERIOD_MS, logger: false, clock, backend, random } as const;
  return {
    prices: new RefreshingValue<Edition>({
      ...common,
      name: 'prices',
      load: firstOf(http('prices'), file('prices-mirror'), { ...order, allowOlderAfter: Infinity }),
    }),
    countries: new RefreshingValue<Edition>({
      ...common,
      name: 'countries',
      load: file('countries'),
      accept: notEmpty,
    }),
    flags: new RefreshingValue<Flags>({
      ...common,
      name: 'flags',
      load: mergeOf({ flags: work.watch(query), limits }),
      accept: ({ flags }) => notEmpty(flags),
    }),
  };
}
