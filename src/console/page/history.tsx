import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { makerText } from '../../data/version-record.ts';
import type { Detail } from '../detail.ts';
import type { ShownDifference } from '../shown-value.ts';
import { get, session } from './api.ts';
import { ask } from './confirm.tsx';
import { bytes, duration, text, version } from './format.ts';
import { Scroll } from './scroll.tsx';
import { now } from './state.ts';

interface Compared extends ShownDifference {
  readonly before: number;
  readonly after: number;
}

/** The versions in the store, with what one changes against the one before, and the way back. */
export function History({
  id,
  detail,
  then,
}: {
  id: string;
  detail: Detail;
  then: () => void;
}): ComponentChild {
  const compared = useSignal<Compared | string | undefined>(undefined);
  const { history, historyError, name, at, here } = detail;
  const mayRollBack = session.value?.actions.includes('rollback') === true && detail.backends.lock;
  const compare = async (before: number, after: number): Promise<void> => {
    compared.value = 'comparing…';
    try {
      const query = { id, before: String(before), after: String(after) };
      compared.value = { before, after, ...(await get<ShownDifference>('compare', query)) };
    } catch (error) {
      compared.value = (error as Error).message;
    }
  };
  const rollBack = (to: number): void =>
    ask({
      action: 'rollback',
      label: 'Roll back',
      target: `${name}, version ${to}`,
      says: 'Puts this version into place on all instances, and pins it: no load replaces it until it is unpinned.',
      body: { id, version: to },
      fields: [
        { name: 'holdMs', label: 'For how many minutes (empty: until it is unpinned)', isMinutes: true },
        { name: 'note', label: 'Reason, for the other operators and the audit' },
      ],
      then,
    });
  return (
    <section class="wide">
      <h2>Versions in the store</h2>
      {historyError && <p class="alert">{text(historyError)}</p>}
      {history.length === 0 ? (
        <p class="quiet">none</p>
      ) : (
        <Scroll label="Versions">
          <table>
            <thead>
              <tr>
                <th scope="col">Version</th>
                <th scope="col">Published</th>
                <th scope="col">Size</th>
                <th scope="col">By</th>
                <th scope="col">
                  <span class="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {history.map(
                ({ version: of, age, bytes: size, note, isPinned, mark, damage, ...maker }, index) => {
                  const before = history[index + 1];
                  return (
                    <tr key={of} class={isPinned ? 'note' : ''}>
                      <th scope="row" title={String(of)}>
                        {version(of)}
                        {of === here.version && <span class="tag">here</span>}
                        {isPinned && <span class="tag">pinned</span>}
                        {mark && <span class="tag">{mark}</span>}
                        {damage && <span class="tag bad">damaged</span>}
                      </th>
                      <td>{duration(now.value - at + age)} ago</td>
                      <td>{bytes(size)}</td>
                      <td>
                        <bdi>{text(makerText(maker), 80)}</bdi>
                        {note && <div class="quiet">{text(note)}</div>}
                      </td>
                      <td class="buttons">
                        {before && !mark && !before.mark && (
                          <button
                            type="button"
                            aria-label={`Compare version ${of} with the one before`}
                            onClick={() => void compare(before.version, of)}
                          >
                            Compare
                          </button>
                        )}
                        {mayRollBack && !mark && index > 0 && (
                          <button
                            type="button"
                            class="grave"
                            aria-label={`Roll back to version ${of}`}
                            onClick={() => rollBack(of)}
                          >
                            Roll back
                          </button>
                        )}
                      </td>
                    </tr>
                  );
                },
              )}
            </tbody>
          </table>
        </Scroll>
      )}
      <div aria-live="polite">{compared.value !== undefined && <Difference of={compared.value} />}</div>
    </section>
  );
}

function Difference({ of }: { of: Compared | string }) {
  if (typeof of === 'string') return <p>{text(of)}</p>;
  const { added, removed, changed, unchanged, parts, before, after } = of;
  return (
    <>
      <h3>
        From {version(before)} to {version(after)}
      </h3>
      <p>
        {added} added, {removed} removed, {changed} changed, {unchanged} unchanged
      </p>
      {parts.length === 0 && !session.value?.showsValues && (
        <p class="quiet">Values are not shown: the option showValue of the console is not set.</p>
      )}
      {parts.length > 0 && (
        <Scroll label="Changes">
          <table>
            <thead>
              <tr>
                <th scope="col">Part</th>
                <th scope="col">Before</th>
                <th scope="col">After</th>
              </tr>
            </thead>
            <tbody>
              {parts.map((part) => (
                <tr key={part.id}>
                  <th scope="row">
                    <bdi>{text(part.id, 100)}</bdi>
                  </th>
                  <td>
                    <code>{text(part.before ?? '–', 500)}</code>
                  </td>
                  <td>
                    <code>{text(part.after ?? '–', 500)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}
