import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import type { KeyRows } from '../detail.ts';
import { counted, grouped, stateText } from '../words.ts';
import { age, text, until } from './format.ts';
import { usePolled } from './polled.ts';
import { memberLink } from './route.ts';
import { type Column, Table } from './table.tsx';

/** The keys of a cache, found by a part of them. */
export function Keys({ id }: { id: string }): ComponentChild {
  const search = useSignal('');
  const { data, error } = usePolled<KeyRows>('keys', { id, search: search.value });
  const found = data.value;
  const columns: readonly Column<KeyRows['keys'][number]>[] = [
    {
      head: 'Key',
      cell: (key) => (
        <a href={memberLink(id, key.id)}>
          <bdi>{text(key.text, 200)}</bdi>
        </a>
      ),
    },
    { head: 'State', cell: stateText },
    { head: 'Age', cell: ({ here }) => (here.loadedAt === undefined ? '–' : age(here.loadedAt)) },
    { head: 'Next load', cell: ({ here }) => (here.nextAt === undefined ? '–' : until(here.nextAt)) },
  ];
  return (
    <section class="wide">
      <h2>Keys</h2>
      <label class="search">
        <span>Search</span>
        <input
          type="search"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
          placeholder="a part of the key"
        />
      </label>
      {error.value && <p class="alert">{text(error.value)}</p>}
      {found && (
        <>
          <p class="quiet" role="status">
            {grouped(found.matching)} of {counted(found.size, 'key')}
            {found.matching > found.keys.length && `, the first ${grouped(found.keys.length)}`}, used last
            first
            {found.looked < found.size && `; looked at the ${grouped(found.looked)} that were used last`}
          </p>
          {found.keys.length > 0 && (
            <Table
              label="Keys"
              columns={columns}
              rows={found.keys}
              keyOf={(key) => key.id}
              levelOf={({ here }) => here.failures !== undefined && 'warn'}
            />
          )}
        </>
      )}
    </section>
  );
}
