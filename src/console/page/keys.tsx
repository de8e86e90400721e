import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import type { KeyRows } from '../detail.ts';
import { age, text, until } from './format.ts';
import { stateText } from './matrix.tsx';
import { usePolled } from './polled.ts';
import { memberLink } from './route.ts';
import { Scroll } from './scroll.tsx';

/** The keys of a cache, found by a part of them. */
export function Keys({ id }: { id: string }): ComponentChild {
  const search = useSignal('');
  const { data, error } = usePolled<KeyRows>('keys', { id, search: search.value });
  const found = data.value;
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
            {found.matching} of {found.size} keys
            {found.matching > found.keys.length && `, the first ${found.keys.length}`}, used last first
            {found.looked < found.size && `; looked at the ${found.looked} that were used last`}
          </p>
          {found.keys.length > 0 && (
            <Scroll label="Keys">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Key</th>
                    <th scope="col">State</th>
                    <th scope="col">Age</th>
                    <th scope="col">Next load</th>
                  </tr>
                </thead>
                <tbody>
                  {found.keys.map((key) => (
                    <tr key={key.id} class={key.here.failures ? 'warn' : ''}>
                      <th scope="row">
                        <a href={memberLink(id, key.id)}>
                          <bdi>{text(key.text, 200)}</bdi>
                        </a>
                      </th>
                      <td>{stateText(key)}</td>
                      <td>{key.here.loadedAt === undefined ? '–' : age(key.here.loadedAt)}</td>
                      <td>{key.here.nextAt === undefined ? '' : until(key.here.nextAt)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </>
      )}
    </section>
  );
}
