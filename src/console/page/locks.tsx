import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import type { LockRecord, TaskRun } from '../../index.ts';
import type { LockRow } from '../locks.ts';
import { get, session } from './api.ts';
import { ask } from './confirm.tsx';
import { duration, text, version } from './format.ts';
import { usePolled } from './polled.ts';
import { RunsTable } from './runs.tsx';
import { Scroll } from './scroll.tsx';
import { now } from './state.ts';

/** The records of all locks: of members, keys and tasks. */
export function Locks(): ComponentChild {
  const prefix = useSignal('');
  const { data, error, again } = usePolled<{
    at: number;
    records: readonly LockRow[];
    errors: readonly string[];
  }>('locks', {
    prefix: prefix.value,
  });
  const found = data.value;
  const runs = useSignal<RunsOf | string | undefined>(undefined);
  const show = async ({ id, lock, name }: LockRow): Promise<void> => {
    try {
      const answer = await get<{ readonly runs: readonly TaskRun[] }>('runs', { id, lock: String(lock) });
      runs.value = { name, runs: answer.runs };
    } catch (failure) {
      runs.value = (failure as Error).message;
    }
  };
  return (
    <>
      <h1 tabIndex={-1}>Locks</h1>
      <label class="search">
        <span>Begins with</span>
        <input
          type="search"
          value={prefix.value}
          onInput={(event) => (prefix.value = event.currentTarget.value)}
        />
      </label>
      {error.value && <p class="alert">{text(error.value)}</p>}
      {found?.errors.map((message) => (
        <p key={message} class="alert">
          {text(message)}
        </p>
      ))}
      {found && found.records.length === 0 && <p class="quiet">No records.</p>}
      {found && found.records.length > 0 && (
        <Scroll label="Lock records">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">State</th>
                <th scope="col">Holder</th>
                <th scope="col">Began</th>
                <th scope="col">Left</th>
                <th scope="col">Last error</th>
                <th scope="col">
                  <span class="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {found.records.map((record) => (
                <tr key={`${record.lock} ${record.id}`} class={record.state === 'failed' ? 'warn' : ''}>
                  <th scope="row">
                    <bdi>{text(record.name, 200)}</bdi>
                  </th>
                  <td>{stateOf(record)}</td>
                  <td title={`${text(record.owner)}, token ${record.token}`}>
                    <bdi>{text(record.host, 80)}</bdi>
                  </td>
                  <td>{duration(record.acquiredAgo + now.value - found.at)} ago</td>
                  <td>{leftOf(record, now.value - found.at)}</td>
                  <td>
                    <bdi>{text(record.lastError ?? '–', 200)}</bdi>
                  </td>
                  <td class="buttons">
                    <button
                      type="button"
                      aria-label={`Runs of ${text(record.name, 100)}`}
                      onClick={() => void show(record)}
                    >
                      Runs
                    </button>
                    <Release record={record} then={again} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      <div aria-live="polite">{runs.value !== undefined && <Runs of={runs.value} />}</div>
    </>
  );
}

interface RunsOf {
  readonly name: string;
  readonly runs: readonly TaskRun[];
}

/** The last runs of a locked task. */
function Runs({ of }: { of: RunsOf | string }): ComponentChild {
  if (typeof of === 'string') return <p class="alert">{text(of)}</p>;
  return (
    <section>
      <h2>
        Last runs of <bdi>{text(of.name, 200)}</bdi>
      </h2>
      {of.runs.length === 0 && (
        <p class="quiet">
          None: they are kept for a lockedTask with the option store, in a store that the console knows.
        </p>
      )}
      {of.runs.length > 0 && <RunsTable runs={of.runs} />}
    </section>
  );
}

/** The record of one member. */
export function LockCard({
  record,
  error,
  at,
}: {
  record: LockRecord | undefined;
  error: string | undefined;
  at: number;
}): ComponentChild {
  return (
    <section>
      <h2>Lock</h2>
      {error && <p class="alert">{text(error)}</p>}
      {record && (
        <dl>
          <dt>State</dt>
          <dd>{stateOf(record)}</dd>
          <dt>Holder</dt>
          <dd>
            <bdi>{text(record.host, 80)}</bdi>{' '}
            <span class="quiet">
              <bdi>{text(record.owner, 80)}</bdi>
            </span>
          </dd>
          <dt>Token</dt>
          <dd title={String(record.token)}>{version(record.token)}</dd>
          <dt>Left</dt>
          <dd class="countdown">{leftOf(record, now.value - at) || 'nothing'}</dd>
          {record.lastError && (
            <>
              <dt>Last error</dt>
              <dd>
                <bdi>{text(record.lastError)}</bdi>
              </dd>
            </>
          )}
        </dl>
      )}
    </section>
  );
}

function Release({ record, then }: { record: LockRow; then: () => void }) {
  const isHeld = record.leaseLeft > 0 || record.holdLeft > 0;
  if (!isHeld || session.value?.actions.includes('release-lock') !== true) return null;
  const { id, lock, token, host, owner, name, state, leaseLeft } = record;
  const who = `${text(host, 80)} (${text(owner, 80)}), token ${token}`;
  const says =
    leaseLeft > 0
      ? `${who} holds it, with ${duration(leaseLeft)} left. If that process is still at work, another one begins beside it: end it first.`
      : `The round is over (${state}), by ${who}. Any instance may begin the next one at once.`;
  const start = (): void =>
    ask({
      action: 'release-lock',
      label: 'Release',
      target: name,
      says,
      body: { id, lock, token },
      fields: [{ name: 'note', label: 'Reason, for the audit' }],
      then,
    });
  return (
    <button type="button" class="grave" aria-label={`Release ${text(name, 100)}`} onClick={start}>
      Release
    </button>
  );
}

function stateOf({ state, tookOver, leaseLeft }: LockRecord): string {
  const shown = state === 'running' && leaseLeft === 0 ? 'expired' : state;
  return tookOver ? `${shown}, took over` : shown;
}

/** @param passed since the record was read. */
function leftOf({ leaseLeft, holdLeft }: LockRecord, passed: number): string {
  if (leaseLeft > 0) return `lease ${duration(Math.max(0, leaseLeft - passed))}`;
  return holdLeft > 0 ? `next round in ${duration(Math.max(0, holdLeft - passed))}` : '';
}
