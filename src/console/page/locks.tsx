import { useSignal } from '@preact/signals';
import { type ComponentChild, Fragment } from 'preact';
import type { LockRecord } from '../../cluster/lock-contract.ts';
import type { TaskRun } from '../../cluster/task-runs.ts';
import { holderLabels, processLabel } from '../../data/instance-label.ts';
import type { LockRow } from '../locks.ts';
import type { SayError } from '../said.ts';
import { counted } from '../words.ts';
import { get, session } from './api.ts';
import { ask } from './confirm.tsx';
import { duration, text, version } from './format.ts';
import { usePolled } from './polled.ts';
import { RunsTable } from './runs.tsx';
import { now } from './state.ts';
import { type Column, Table } from './table.tsx';

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
  const showsInternal = useSignal(false);
  const internal = found?.records.filter(({ isInternal }) => isInternal).length ?? 0;
  const shown = found?.records.filter(({ isInternal }) => showsInternal.value || !isInternal) ?? [];
  const passed = now.value - (found?.at ?? now.value);
  const holders = holderLabels(shown);
  const columns: readonly Column<LockRow>[] = [
    { head: 'Name', cell: ({ name }) => <bdi>{text(name, 200)}</bdi> },
    { head: 'State', title: (record) => STATES[stateOf(record)], cell: stateText },
    {
      head: 'Holder',
      title: ({ owner, token }) => `${text(owner)}, token ${token}`,
      cell: ({ owner, host }) => <bdi>{text(holders.get(owner) ?? host, 80)}</bdi>,
    },
    { head: 'Began', cell: ({ acquiredAgo }) => `${duration(acquiredAgo + passed)} ago` },
    { head: 'Left', cell: (record) => leftOf(record, passed) || '–' },
    { head: 'Last error', cell: ({ lastError = '–' }) => <bdi>{text(lastError, 200)}</bdi> },
    {
      head: 'Actions',
      isButtons: true,
      cell: (record) => (
        <>
          <button
            type="button"
            aria-label={`Runs of ${text(record.name, 100)}`}
            onClick={() => void show(record)}
          >
            Runs
          </button>
          <Release record={record} then={again} />
        </>
      ),
    },
  ];
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
      {found?.errors.length === 0 && shown.length === 0 && <p class="quiet">No records.</p>}
      {found && shown.length > 0 && (
        <Table
          label="Lock records"
          columns={columns}
          rows={shown}
          keyOf={({ lock, id }) => `${lock} ${id}`}
          levelOf={({ state }) => state === 'failed' && 'warn'}
        />
      )}
      {internal > 0 && (
        <p>
          <label>
            <input
              type="checkbox"
              checked={showsInternal.value}
              onChange={(event) => (showsInternal.value = event.currentTarget.checked)}
            />{' '}
            Also the {counted(internal, 'record')} that tickless keeps for itself
          </label>
        </p>
      )}
      <details class="legend">
        <summary>What the states mean</summary>
        <dl>
          {Object.entries(STATES).map(([state, says]) => (
            <Fragment key={state}>
              <dt>{state}</dt>
              <dd>{says}</dd>
            </Fragment>
          ))}
        </dl>
      </details>
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
  say,
}: {
  record: LockRecord | undefined;
  error: string | undefined;
  at: number;
  say: SayError;
}): ComponentChild {
  return (
    <section>
      <h2>Lock</h2>
      {error && <p class="alert">{text(say(error))}</p>}
      {record && (
        <dl>
          <dt>State</dt>
          <dd>
            {stateText(record)} <span class="quiet">{STATES[stateOf(record)]}</span>
          </dd>
          <dt>Holder</dt>
          <dd>
            <bdi>{text(processLabel({ id: record.owner, host: record.host }), 80)}</bdi>{' '}
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
                <bdi>{text(say(record.lastError))}</bdi>
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

/** The states of the API, and `expired`: a running one without a lease. */
const STATES: { readonly [state in LockRecord['state'] | 'expired']: string } = {
  running: 'The holder is at work, and extends its lease.',
  expired:
    'The holder has not extended its lease: it was killed or stands still. The next instance that asks takes over.',
  done: 'The round has succeeded. The next one begins when what is left is over.',
  failed: 'The round has failed. Any instance may try it again after its cool-down.',
  abandoned: 'The holder gave it back without a result. Any instance may begin the round.',
  released: 'An operator has ended the lease. Any instance may begin the round.',
  registered: 'Announced, and not begun yet.',
};

function stateOf({ state, leaseLeft }: LockRecord): keyof typeof STATES {
  return state === 'running' && leaseLeft === 0 ? 'expired' : state;
}

function stateText(record: LockRecord): string {
  return record.tookOver ? `${stateOf(record)}, took over` : stateOf(record);
}

/** @param passed since the record was read. */
function leftOf({ leaseLeft, holdLeft }: LockRecord, passed: number): string {
  if (leaseLeft > 0) return `lease ${duration(Math.max(0, leaseLeft - passed))}`;
  return holdLeft > 0 ? `next round in ${duration(Math.max(0, holdLeft - passed))}` : '';
}
