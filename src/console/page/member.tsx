import type { ComponentChild } from 'preact';
import { toldOf } from '../causes.ts';
import type { Detail } from '../detail.ts';
import type { Cell } from '../rows.ts';
import { errorSayer, type SayError } from '../said.ts';
import { stateText } from '../words.ts';
import { Counters } from './counters.tsx';
import { Executions } from './executions.tsx';
import { age, clock, duration, minute, second, text, time, until, version, zoned } from './format.ts';
import { History } from './history.tsx';
import { Keys } from './keys.tsx';
import { LockCard } from './locks.tsx';
import { Actions } from './member-actions.tsx';
import { usePolled } from './polled.ts';
import { Refused } from './refused.tsx';
import { memberLink } from './route.ts';
import { events, now, overview, row } from './state.ts';
import { type Column, Table } from './table.tsx';

/** A member in full, or one key of a cache. */
export function Member({ id, keyId }: { id: string; keyId: string | undefined }): ComponentChild {
  const query = keyId === undefined ? { id } : { id, key: keyId };
  const { data, error, again } = usePolled<Detail>('member', query);
  const detail = data.value;
  if (detail === undefined) {
    return (
      <>
        <h1 tabIndex={-1}>
          <bdi>{text(row(id)?.value.name ?? 'Member', 300)}</bdi>
        </h1>
        {keyId === undefined && <Problems id={id} />}
        {error.value === undefined ? (
          <p class="quiet">Loading…</p>
        ) : (
          <p class="alert" role="alert">
            {text(error.value)}
          </p>
        )}
        <p>
          <a href="#/members">All members</a>
        </p>
      </>
    );
  }
  const heard = eventsOf(id, detail);
  const own = detail.key ? undefined : row(id)?.value;
  const say = errorSayer(detail.name, own, detail.error?.message);
  return (
    <>
      <p class="crumbs">
        <a href="#/members">All members</a>
        {detail.key && (
          <>
            {' / '}
            <a href={memberLink(id)}>
              <bdi>{text(detail.name, 80)}</bdi>
            </a>
          </>
        )}
      </p>
      <h1 tabIndex={-1}>
        <bdi>{text(detail.key?.text ?? detail.name, 300)}</bdi>{' '}
        <span class="quiet">{detail.key ? 'key' : detail.kind}</span>
      </h1>
      {error.value !== undefined && (
        <p class="alert" role="alert">
          {text(error.value)}
        </p>
      )}
      {!detail.key && <Problems id={id} />}
      <Actions id={id} keyId={keyId} detail={detail} then={again} />
      <div class="cards">
        {detail.refused && <Refused of={detail.refused} />}
        <State detail={detail} say={say} />
        {(detail.lock || detail.lockError) && (
          <LockCard record={detail.lock} error={detail.lockError} at={detail.at} say={say} />
        )}
        {detail.counts && <Counters of={detail.counts} isTask={detail.kind === 'executor'} />}
        {detail.error && <Failure error={detail.error} say={errorSayer(detail.name, own, undefined)} />}
        {detail.kind === 'cache' && !detail.key && <Keys id={id} />}
        <Executions of={detail} say={say} />
        {detail.kind === 'value' && detail.backends.store && (
          <History id={id} detail={detail} say={say} then={again} />
        )}
        {detail.value !== undefined && (
          <section class="wide">
            <h2>Value</h2>
            <pre tabIndex={0} role="region" aria-label="Value">
              {detail.value}
            </pre>
          </section>
        )}
        {!detail.key && <OnInstances id={id} say={say} />}
        <Events heard={heard} say={say} />
      </div>
    </>
  );
}

/** Those of the page, and those that the console had before it was opened. */
function eventsOf(id: string, detail: Detail): Detail['events'] {
  const known = new Set(detail.events.map(({ number }) => number));
  const more = events.value.filter((event) => {
    return event.id === id && !known.has(event.number) && (!detail.key || event.key === detail.key.text);
  });
  return [...detail.events, ...more].sort((a, b) => a.number - b.number).slice(-300);
}

function Problems({ id }: { id: string }) {
  const one = row(id)?.value;
  if (one === undefined || one.problems.length === 0) return null;
  return (
    <ul class="problems">
      {toldOf(one).map(({ kind, level, message, since }) => (
        <li key={kind + message} class={level}>
          <b>{kind === 'backend-down' ? 'loads are not shared' : kind}</b>{' '}
          {since !== undefined && `since ${minute(since)}, ${age(since)}: `}
          <bdi>{text(message, 1000)}</bdi>
        </li>
      ))}
    </ul>
  );
}

function State({ detail: { kind, here, checks, at }, say }: { detail: Detail; say: SayError }) {
  const isTask = kind === 'executor';
  const { loadedAt, maxStaleness, version: held, pinned, isHolder, failingSince } = here;
  const left = loadedAt !== undefined && maxStaleness !== undefined ? loadedAt + maxStaleness : undefined;
  return (
    <section>
      <h2>On this instance</h2>
      <dl>
        <dt>State</dt>
        <dd>
          {stateText({ here })}
          {isHolder && ', holds the lease'}
        </dd>
        {failingSince !== undefined && (
          <>
            <dt>Failing since</dt>
            <dd>
              {minute(failingSince)}, {age(failingSince)}
            </dd>
          </>
        )}
        {loadedAt !== undefined && (
          <>
            <dt>{isTask ? 'Last success' : 'Age'}</dt>
            <dd>
              {age(loadedAt)}{' '}
              <span class="quiet">
                {isTask ? 'ago, at' : 'loaded at'} {time(loadedAt)}
              </span>
              {left !== undefined && maxStaleness !== undefined && (
                <meter
                  min={0}
                  max={maxStaleness}
                  low={maxStaleness * 0.8}
                  high={here.refusesReads ? maxStaleness * 0.8 : maxStaleness}
                  optimum={0}
                  value={Math.min(maxStaleness, Math.max(0, at - loadedAt))}
                  aria-label={`age against its limit of ${duration(maxStaleness)}`}
                />
              )}
            </dd>
          </>
        )}
        {maxStaleness !== undefined && (
          <>
            <dt>Limit</dt>
            <dd>
              {duration(maxStaleness)}
              {left !== undefined && (
                <span class="quiet"> {left <= now.value ? 'exceeded' : `reached ${until(left)}`}</span>
              )}
            </dd>
          </>
        )}
        {here.runningSince !== undefined && (
          <>
            <dt>{isTask ? 'Running' : 'Loading'} since</dt>
            <dd>
              {second(here.runningSince)}, {age(here.runningSince)}
            </dd>
          </>
        )}
        {here.size === undefined && !here.running && (
          <>
            <dt>{isTask ? 'Next run' : 'Next load'}</dt>
            <dd class="countdown">{nextText(here, isTask)}</dd>
          </>
        )}
        {held !== undefined && !isTask && (
          <>
            <dt>Version</dt>
            <dd title={String(held)}>{held}</dd>
          </>
        )}
        {pinned && (
          <>
            <dt>Pinned</dt>
            <dd>
              by <bdi>{text(pinned.by, 80)}</bdi>
              {pinned.until !== undefined && ` until ${time(pinned.until)}`}
              {pinned.note && (
                <>
                  : <bdi>{text(pinned.note)}</bdi>
                </>
              )}
            </dd>
          </>
        )}
        {checks && (
          <>
            <dt>Other instances</dt>
            <dd>
              {checks.checkedAt === undefined ? 'not asked yet' : `asked ${age(checks.checkedAt)} ago`}
              {checks.error && (
                <>
                  : <bdi>{text(say(checks.error))}</bdi>
                </>
              )}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function nextText({ nextAt, state }: Detail['here'], isTask: boolean): string {
  if (nextAt !== undefined) return `${until(nextAt)}, at ${zoned(nextAt)}`;
  if (state === 'fresh' || state === 'done') return 'never by itself';
  return isTask ? 'at the next request' : 'at the next read';
}

interface Failed {
  readonly error: NonNullable<Detail['error']>;
  readonly say: SayError;
}

/** In full, where the problems at the top do not say it. */
function Failure({ error, say }: Failed) {
  return (
    <section class="warn wide">
      <h2>Last error</h2>
      <OneError error={error} say={say} />
    </section>
  );
}

function OneError({ error: { name, code, message, stack, cause }, say }: Failed) {
  return (
    <>
      <p>
        <b>{text(name, 80)}</b> {code && <code>{text(code, 80)}</code>} <bdi>{text(say(message), 1000)}</bdi>
      </p>
      {stack && (
        <details>
          <summary>Stack</summary>
          <pre tabIndex={0} role="region" aria-label="Stack">
            {stack}
          </pre>
        </details>
      )}
      {cause && (
        <div class="cause">
          <p class="quiet">caused by</p>
          <OneError error={cause} say={say} />
        </div>
      )}
    </>
  );
}

function OnInstances({ id, say }: { id: string; say: SayError }) {
  const { cells = [], fleet, kind } = row(id)?.value ?? {};
  const hasVersions = fleet?.version !== undefined;
  const hosts = new Map(overview.value?.instances.map((instance) => [instance.id, instance]));
  if (cells.length === 0) return null;
  const columns: readonly Column<Cell>[] = [
    {
      head: 'Instance',
      title: ({ on }) => on,
      cell: ({ on }) => (
        <>
          <bdi>{text(hosts.get(on)?.label ?? on, 60)}</bdi>
          {hosts.get(on)?.isHere && <span class="tag">here</span>}
        </>
      ),
    },
    {
      head: 'Version',
      title: ({ version: of }) => String(of ?? ''),
      cell: ({ version: of, behind }) => `${version(of)}${behind ? ', older' : ''}`,
    },
    { head: 'Age', cell: ({ loadedAt }) => (loadedAt === undefined ? '–' : age(loadedAt)) },
    {
      head: 'Last failure',
      cell: ({ failures, error = '' }) =>
        failures ? <bdi>{`×${failures}: ${text(say(error), 200)}`}</bdi> : '–',
    },
    {
      head: 'Last seen',
      cell: ({ on }) => {
        const instance = hosts.get(on);
        if (instance === undefined) return '–';
        return `${age(instance.seenAt)} ago${instance.isIdle ? ', idle or gone' : ''}`;
      },
    },
  ];
  return (
    <section class="wide">
      <h2>On all instances</h2>
      {fleet && hasVersions && (
        <p>
          {fleet.holding} of {fleet.of}{' '}
          {kind === 'cache' ? 'know all marks on its keys' : 'have the newest version'}
        </p>
      )}
      <Table
        label="Instances"
        columns={columns.filter(({ head }) => hasVersions || head !== 'Version')}
        rows={cells}
        keyOf={({ on }) => on}
        levelOf={({ failures, behind }) => (failures ? 'warn' : behind && 'note')}
      />
    </section>
  );
}

function Events({ heard, say }: { heard: Detail['events']; say: SayError }) {
  const columns: readonly Column<Detail['events'][number]>[] = [
    { head: 'At', cell: ({ at }) => clock(at) },
    { head: 'Event', cell: ({ type }) => type },
    { head: 'Details', cell: (event) => <bdi>{text(detailsOf(event, say))}</bdi> },
  ];
  return (
    <section class="wide">
      <h2>Events since the page was opened</h2>
      {heard.length === 0 ? (
        <p class="quiet">none yet</p>
      ) : (
        <Table
          label="Events"
          columns={columns}
          rows={[...heard].reverse().slice(0, 100)}
          keyOf={({ number }) => number}
        />
      )}
    </section>
  );
}

function detailsOf(event: Detail['events'][number], say: SayError): string {
  const { key, outcome, backend, took, attempts = 1, trigger, host, version: of, token, error } = event;
  return [
    ...(outcome ? [outcome] : []),
    ...(backend ? [backend] : []),
    ...(key ? [key] : []),
    ...(trigger ? [trigger] : []),
    ...(took === undefined ? [] : [duration(took)]),
    ...(attempts > 1 ? [`${attempts} tries`] : []),
    ...(host ? [`by ${host}`] : []),
    ...(of ? [`version ${version(of)}`] : []),
    ...(token ? [`token ${version(token)}`] : []),
    ...(error ? [say(error)] : []),
  ].join(', ');
}
