import type { ComponentChild } from 'preact';
import type { ExecutorRun } from '../../index.ts';
import { duration, text, time } from './format.ts';
import { Scroll } from './scroll.tsx';

/** The runs of a task, newest first. */
export function RunsTable({ runs }: { runs: readonly ExecutorRun[] }): ComponentChild {
  return (
    <Scroll label="Runs">
      <table>
        <thead>
          <tr>
            <th scope="col">Began</th>
            <th scope="col">Took</th>
            <th scope="col">Result</th>
            <th scope="col">By</th>
          </tr>
        </thead>
        <tbody>
          {runs.map(({ at, took, result, error, token, host = 'this instance', instance = '' }) => (
            <tr key={token ?? at} class={result === 'failed' ? 'warn' : ''}>
              <th scope="row">{time(at)}</th>
              <td>{duration(took)}</td>
              <td>
                {result}
                {error !== undefined && (
                  <>
                    : <bdi>{text(error, 300)}</bdi>
                  </>
                )}
              </td>
              <td title={token === undefined ? '' : `token ${token} ${text(instance, 80)}`}>
                <bdi>{text(host, 80)}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** The runs of an executor. */
export function RunsCard({
  runs = [],
  error,
}: {
  runs: readonly ExecutorRun[] | undefined;
  error: string | undefined;
}): ComponentChild {
  return (
    <section class="wide">
      <h2>Last runs</h2>
      {error !== undefined && <p class="alert">{text(error)}</p>}
      {error === undefined && runs.length === 0 && <p class="quiet">None.</p>}
      {runs.length > 0 && <RunsTable runs={runs} />}
    </section>
  );
}
