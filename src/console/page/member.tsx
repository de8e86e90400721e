import type { ComponentChild } from 'preact';
import type { Detail } from '../detail.ts';
import { problemLevel } from '../rows.ts';
import { Counters, Freshness } from './counters.tsx';
import { age, clock, duration, text, time, until, version } from './format.ts';
import { History } from './history.tsx';
import { Keys } from './keys.tsx';
import { LockCard } from './locks.tsx';
import { stateText } from './matrix.tsx';
import { Actions } from './member-actions.tsx';
import { usePolled } from './polled.ts';
import { memberLink } from './route.ts';
import { RunsCard } from './runs.tsx';
import { Scroll } from './scroll.tsx';
import { events, overview, row } from './state.ts';
import { Timeline } from './timeline.tsx';

/** A member in full, or one key of a cache. */
export function Member({ id, keyId }: { id: string; keyId: string | undefined }): ComponentChild {
  const query = keyId === undefined ? { id } : { id, key: keyId };
  const { data, error, again } = usePolled<Detail>('member', query);
  const detail = data.value;
  if (detail === undefined) {
    return (
      <>
        <h1 tabIndex={-1}>Member</h1>
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
        <State detail={detail} />
        {(detail.lock || detail.lockError) && (
          <LockCard record={detail.lock} error={detail.lockError} at={detail.at} />
        )}
        {detail.stats?.freshness && <Freshness of={detail.stats.freshness} />}
        {detail.stats && <Counters of={detail.stats} />}
        {detail.quarantine && <Quarantine {...detail.quarantine} />}
        {detail.error && <Failure error={detail.error} />}
        {detail.kind !== 'cache' || detail.key ? (
          <Timeline detail={detail} events={heard} />
        ) : (
          <Keys id={id} />
        )}
        {detail.kind === 'executor' && <RunsCard runs={detail.runs} error={detail.runsError} />}
        {detail.kind === 'value' && detail.backends.store && <History id={id} detail={detail} then={again} />}
        {detail.value !== undefined && (
          <section class="wide">
            <h2>Value</h2>
            <pre tabIndex={0} role="region" aria-label="Value">
              {detail.value}
            </pre>
          </section>
        )}
        {!detail.key && <OnInstances id={id} />}
        <Events heard={heard} />
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
  const problems = row(id)?.value.problems ?? [];
  if (problems.length === 0) return null;
  return (
    <ul class="problems">
      {problems.map((problem) => (
        <li key={problem.kind} class={problemLevel(problem)}>
          <b>{problem.kind}</b> <bdi>{text(problem.message)}</bdi>
        </li>
      ))}
    </ul>
  );
}

function State({ detail: { here, checks, at } }: { detail: Detail }) {
  const { loadedAt, nextAt, maxStaleness, version: held, pinned, isHolder } = here;
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
        {loadedAt !== undefined && (
          <>
            <dt>Age</dt>
            <dd>
              {age(loadedAt)} <span class="quiet">loaded at {time(loadedAt)}</span>
              {left !== undefined && maxStaleness !== undefined && (
                <meter
                  min={0}
                  max={maxStaleness}
                  high={maxStaleness * 0.8}
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
              {left !== undefined && <span class="quiet"> over {until(left)}</span>}
            </dd>
          </>
        )}
        <dt>Next load</dt>
        <dd class="countdown">
          {nextAt === undefined
            ? here.state === 'fresh' || here.state === 'done'
              ? 'never by itself'
              : 'at the next read'
            : `${until(nextAt)}, at ${clock(nextAt)}`}
        </dd>
        {held !== undefined && (
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
        {here.size !== undefined && (
          <>
            <dt>Keys</dt>
            <dd>{here.size}</dd>
          </>
        )}
        {checks && (
          <>
            <dt>Other instances</dt>
            <dd>
              {checks.checkedAt === undefined ? 'not asked yet' : `asked ${age(checks.checkedAt)} ago`}
              {checks.error && (
                <>
                  : <bdi>{text(checks.error)}</bdi>
                </>
              )}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Quarantine({ reason, since, loadedAt, size, note }: NonNullable<Detail['quarantine']>) {
  return (
    <section class="warn">
      <h2>Quarantine</h2>
      <p>The value that was loaded {age(loadedAt)} ago was refused, and is not served:</p>
      <p>
        <bdi>{text(reason)}</bdi>
      </p>
      <dl>
        <dt>Refusing since</dt>
        <dd>{time(since)}</dd>
        {size !== undefined && (
          <>
            <dt>Size</dt>
            <dd>{size}</dd>
          </>
        )}
      </dl>
      {note && <p>{text(note)}</p>}
    </section>
  );
}

function Failure({ error }: { error: NonNullable<Detail['error']> }) {
  return (
    <section class="warn wide">
      <h2>Last error</h2>
      <OneError error={error} />
    </section>
  );
}

function OneError({ error: { name, code, message, stack, cause } }: { error: NonNullable<Detail['error']> }) {
  return (
    <>
      <p>
        <b>{text(name, 80)}</b> {code && <code>{text(code, 80)}</code>} <bdi>{text(message, 1000)}</bdi>
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
          <OneError error={cause} />
        </div>
      )}
    </>
  );
}

function OnInstances({ id }: { id: string }) {
  const { cells = [], fleet } = row(id)?.value ?? {};
  const hosts = new Map(overview.value?.instances.map((instance) => [instance.id, instance]));
  if (cells.length === 0) return null;
  return (
    <section class="wide">
      <h2>On all instances</h2>
      {fleet && (
        <p>
          {fleet.holding} of {fleet.of} have the newest version
        </p>
      )}
      <Scroll label="Instances">
        <table>
          <thead>
            <tr>
              <th scope="col">Instance</th>
              <th scope="col">Version</th>
              <th scope="col">Age</th>
              <th scope="col">Last failure</th>
              <th scope="col">Report</th>
            </tr>
          </thead>
          <tbody>
            {cells.map((cell) => {
              const instance = hosts.get(cell.on);
              return (
                <tr key={cell.on} class={cell.failures ? 'warn' : cell.behind ? 'note' : ''}>
                  <th scope="row" title={cell.on}>
                    <bdi>{text(instance?.label ?? cell.on, 60)}</bdi>
                    {instance?.isHere && ' (here)'}
                  </th>
                  <td title={String(cell.version ?? '')}>
                    {version(cell.version)}
                    {cell.behind && ', older'}
                  </td>
                  <td>{cell.loadedAt === undefined ? '–' : age(cell.loadedAt)}</td>
                  <td>{cell.failures ? `×${cell.failures}: ${text(cell.error ?? '', 200)}` : '–'}</td>
                  <td>{instance ? `${age(instance.seenAt)} ago` : ''}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Events({ heard }: { heard: Detail['events'] }) {
  return (
    <section class="wide">
      <h2>Events since the page was opened</h2>
      {heard.length === 0 ? (
        <p class="quiet">none yet</p>
      ) : (
        <Scroll label="Events">
          <table>
            <thead>
              <tr>
                <th scope="col">At</th>
                <th scope="col">Event</th>
                <th scope="col">Details</th>
              </tr>
            </thead>
            <tbody>
              {[...heard]
                .reverse()
                .slice(0, 100)
                .map((event) => (
                  <tr key={event.number}>
                    <td>{clock(event.at)}</td>
                    <td>{event.type}</td>
                    <td>
                      <bdi>{text(detailsOf(event))}</bdi>
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}

function detailsOf(event: Detail['events'][number]): string {
  const { key, duration: took, attempts = 1, trigger, host, version: of, token, error } = event;
  return [
    ...(key ? [key] : []),
    ...(trigger ? [trigger] : []),
    ...(took === undefined ? [] : [duration(took)]),
    ...(attempts > 1 ? [`${attempts} tries`] : []),
    ...(host ? [`by ${host}`] : []),
    ...(of ? [`version ${version(of)}`] : []),
    ...(token ? [`token ${version(token)}`] : []),
    ...(error ? [error] : []),
  ].join(', ');
}
