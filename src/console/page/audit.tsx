import type { ComponentChild } from 'preact';
import type { ListedRecord } from '../audit.ts';
import { text, time } from './format.ts';
import { usePolled } from './polled.ts';
import { Scroll } from './scroll.tsx';

/** What operators have done. */
export function Audit(): ComponentChild {
  const { data, error } = usePolled<{ records: readonly ListedRecord[]; problem?: string }>('audit');
  const found = data.value;
  return (
    <>
      <h1 tabIndex={-1}>Audit</h1>
      {error.value && <p class="alert">{text(error.value)}</p>}
      {found?.problem && <p class="alert">Only those of this instance: {text(found.problem)}</p>}
      {found && found.records.length === 0 && <p class="quiet">No operator has done anything yet.</p>}
      {found && found.records.length > 0 && (
        <Scroll label="Audit records">
          <table>
            <thead>
              <tr>
                <th scope="col">At</th>
                <th scope="col">By</th>
                <th scope="col">Action</th>
                <th scope="col">On</th>
                <th scope="col">Result</th>
              </tr>
            </thead>
            <tbody>
              {found.records.map(
                (
                  { at, by, action, name, lock, key, everywhere, note, result, message, host, unwritten },
                  index,
                ) => (
                  <tr key={`${at} ${index}`} class={result === 'done' ? '' : 'warn'}>
                    <td>{time(at)}</td>
                    <td>
                      <bdi>{text(by, 80)}</bdi> <span class="quiet">on {text(host, 60)}</span>
                    </td>
                    <td>
                      {action}
                      {everywhere && ' everywhere'}
                    </td>
                    <td>
                      <bdi>{text(key === undefined ? name : `${name}[${key}]`, 200)}</bdi>
                      {lock !== undefined && <span class="quiet"> at lock {lock}</span>}
                      {note && <div class="quiet">{text(note)}</div>}
                    </td>
                    <td>
                      <b>{result}</b> <bdi>{text(message)}</bdi>
                      {unwritten && <div class="quiet">on this instance only, until it can be written</div>}
                    </td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}
