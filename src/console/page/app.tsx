import { type Signal, signal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { session } from './api.ts';
import { Audit } from './audit.tsx';
import { Confirm, Outcome } from './confirm.tsx';
import { age, clock, text } from './format.ts';
import { Locks } from './locks.tsx';
import { Member } from './member.tsx';
import { Members } from './members.tsx';
import { route } from './route.ts';
import { answeredAt, connection, overview } from './state.ts';

/** Why the page shows nothing. */
export const failure: Signal<string | undefined> = signal(undefined);

const CONNECTION = {
  opening: 'Connecting…',
  live: 'Live',
  polling: 'Live events are not available: asking every few seconds',
  offline: 'No answer',
};

export function App(): ComponentChild {
  const { page } = route.value;
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        Skip to the content
      </a>
      <header class="top">
        <p class="brand">
          <b>tickless</b> <bdi>{text(overview.value?.group.name ?? '', 60)}</bdi>
        </p>
        <nav aria-label="Pages">
          <Tab page="members" label="Members" isHere={page === 'members' || page === 'member'} />
          <Tab page="locks" label="Locks" isHere={page === 'locks'} />
          <Tab page="audit" label="Audit" isHere={page === 'audit'} />
        </nav>
        <p class="who">
          <span class={`dot ${connection.value}`} aria-hidden="true" />
          <span role="status">{CONNECTION[connection.value]}</span>
          {session.value && (
            <span class="by">
              {' · '}
              <bdi>{text(session.value.by, 40)}</bdi>
              {session.value.actions.length === 0 && ' (read-only)'}
            </span>
          )}
        </p>
      </header>
      <main id="content" tabIndex={-1} class={connection.value === 'offline' ? 'gone' : ''}>
        <Gone />
        {failure.value !== undefined && overview.value === undefined && (
          <p class="alert" role="alert">
            {text(failure.value)}
          </p>
        )}
        <Page />
      </main>
      <Outcome />
      <Confirm />
    </>
  );
}

/** The service does not answer. */
function Gone() {
  const since = answeredAt.value;
  if (connection.value !== 'offline' || since === undefined) return null;
  return (
    <p class="alert banner" role="alert">
      <b>
        No answer since {clock(since)}, {age(since)}.
      </b>{' '}
      The service or the way to it is down: what is shown is as old as that.
    </p>
  );
}

function Page() {
  const at = route.value;
  switch (at.page) {
    case 'member':
      return <Member key={`${at.id}\0${at.key}`} id={at.id} keyId={at.key} />;
    case 'locks':
      return <Locks />;
    case 'audit':
      return <Audit />;
    default:
      return <Members />;
  }
}

function Tab({ page, label, isHere }: { page: string; label: string; isHere: boolean }) {
  return (
    <a href={`#/${page}`} aria-current={isHere ? 'page' : undefined}>
      {label}
    </a>
  );
}

/** The fragment of the address is the page that is shown. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
