import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import type { ActionName } from '../action-names.ts';
import type { Detail } from '../detail.ts';
import { session } from './api.ts';
import { type Asked, ask, type Field } from './confirm.tsx';

interface Offered {
  readonly action: ActionName;
  readonly label: string;
  readonly says: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly fields?: readonly Field[];
  /** It does away with something. */
  readonly isGrave?: boolean;
  /** It fits what is wrong with the member now. */
  readonly isFitting?: boolean;
}

const NOTE: Field = { name: 'note', label: 'Reason, for the audit' };
const HOLD: Field = {
  name: 'holdMs',
  label: 'For how many minutes (empty: until it is unpinned)',
  isMinutes: true,
};

const EVERY: Field = {
  name: 'everyMs',
  label: 'Every how many minutes',
  isMinutes: true,
  isRequired: true,
};

/** What the operator can do to a member, or to a key of a cache. */
export function Actions(props: {
  id: string;
  keyId: string | undefined;
  detail: Detail;
  /** The digest of the refused value that is shown. */
  refused: string | undefined;
  then: () => void;
}): ComponentChild {
  const { id, keyId, detail, refused, then } = props;
  const isOpen = useSignal(false);
  const allowed = session.value?.actions ?? [];
  const offered = offeredFor(detail, refused).filter(({ action }) => allowed.includes(action));
  if (offered.length === 0) return null;
  const target = detail.key ? `${detail.name}[${detail.key.text}]` : detail.name;
  const start = ({ action, label, says, body = {}, fields = [] }: Offered): void => {
    const key = keyId === undefined ? {} : { key: keyId };
    const asked: Asked = {
      action,
      label,
      says,
      target,
      body: { id, ...key, ...body },
      fields: [...fields, NOTE],
      then,
    };
    ask(asked);
  };
  const button = (one: Offered): ComponentChild => (
    <button key={one.label} type="button" class={one.isGrave ? 'grave' : ''} onClick={() => start(one)}>
      {one.label}
    </button>
  );
  const fitting = offered.filter(({ isFitting }) => isFitting);
  const first = fitting.length > 0 ? fitting : offered.slice(0, 1);
  const rest = offered.filter((one) => !first.includes(one));
  return (
    <div class="actions" role="group" aria-label="Actions">
      {first.map(button)}
      {rest.length > 0 && (
        <details open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
          <summary>More actions</summary>
          <div class="actions">{rest.map(button)}</div>
        </details>
      )}
    </div>
  );
}

/** Those that fit what is wrong are marked; where nothing is, the first one is what one would do. */
function offeredFor(
  { kind, key, here, quarantine, backends, history: [present] }: Detail,
  digest: string | undefined,
): readonly Offered[] {
  const isEntry = kind !== 'cache' || key !== undefined;
  const isValue = kind === 'value';
  const hasValue = isValue || key !== undefined;
  const canShare = backends.lock && backends.store;
  const everywhere = { everywhere: true };
  const name = kind === 'executor' ? 'Execute' : 'Refresh';
  return [
    ...when(isEntry, {
      action: 'refresh',
      label: `${name} now`,
      says: 'Starts a load now, or joins the one under way.',
    }),
    ...when(hasValue && canShare, {
      action: 'refresh',
      label: 'Refresh everywhere',
      says: 'Loads here now; the other instances take the result over.',
      body: everywhere,
    }),
    ...when(isEntry && here.failures !== undefined, {
      action: 'end-cool-down',
      label: 'End cool-down',
      isFitting: quarantine === undefined,
      says: 'Loads now. Where that succeeds the cool-down is over; where it fails the next one begins.',
    }),
    ...when(isEntry && here.running === true, {
      action: 'cancel',
      label: 'Cancel load',
      isFitting: true,
      says: 'Aborts the load under way on this instance. It counts as failed; the old value stays.',
      body: { since: here.runningSince },
    }),
    ...when(kind !== 'executor', {
      action: 'invalidate',
      label: key || isValue ? 'Invalidate' : 'Invalidate all keys',
      says: 'The next read starts a load, and is served the old value meanwhile.',
    }),
    ...when(kind !== 'executor' && canShare, {
      action: 'invalidate',
      label: key || isValue ? 'Invalidate everywhere' : 'Drop all keys everywhere',
      says:
        key || isValue
          ? 'The same on all instances.'
          : 'All instances forget all values: reads wait for loads.',
      body: everywhere,
      isGrave: !(key || isValue),
    }),
    ...when(hasValue, {
      action: 'invalidate',
      label: 'Drop',
      says: 'Forgets the value on this instance: the next read waits for a load.',
      body: { drop: true, since: here.loadedAt },
      isGrave: true,
    }),
    ...when(!key && !here.paused, {
      action: 'pause',
      label: 'Pause',
      says: 'Reads on this instance start no loads until it is resumed.',
    }),
    ...when(!key && canShare && !here.paused, {
      action: 'pause',
      label: 'Pause everywhere',
      says: 'Reads start no loads on any instance.',
      body: everywhere,
      isGrave: true,
    }),
    ...when(!key && here.paused === true, {
      action: 'resume',
      label: 'Resume',
      isFitting: true,
      says: 'Reads on this instance start loads again.',
    }),
    ...when(!key && canShare && here.paused === true, {
      action: 'resume',
      label: 'Resume everywhere',
      isFitting: true,
      says: 'Reads start loads again on all instances.',
      body: everywhere,
    }),
    ...when(!key, {
      action: 'reschedule',
      label: 'Reschedule',
      says: 'Loads at fixed intervals on this instance, until it is started again.',
      fields: [EVERY],
    }),
    ...when(!key && canShare, {
      action: 'reschedule',
      label: 'Reschedule everywhere',
      says: 'Loads at fixed intervals on all instances, also on those that start later.',
      body: everywhere,
      fields: [EVERY],
    }),
    ...when(digest !== undefined && quarantine?.note === undefined, {
      action: 'accept-quarantined',
      body: { digest },
      label: 'Accept refused value',
      isFitting: true,
      says: 'Serves the value that the guard refused, as if it were loaded now.',
      isGrave: true,
    }),
    ...when(digest !== undefined, {
      action: 'discard-quarantined',
      body: { digest },
      label: 'Discard refused value',
      isFitting: true,
      says: 'Forgets the value that the guard refused.',
    }),
    ...when(isValue && canShare && present !== undefined && here.pinned === undefined, {
      action: 'pin',
      body: { present: present?.version },
      label: 'Pin version',
      says: 'No load replaces the version in place, on any instance, until it is unpinned.',
      fields: [HOLD],
    }),
    ...when(isValue && canShare && present !== undefined && here.pinned !== undefined, {
      action: 'unpin',
      body: { present: present?.version },
      label: 'Unpin',
      isFitting: true,
      says: 'Loads replace the version again, on all instances.',
    }),
  ];
}

function when(is: boolean, offered: Offered): readonly Offered[] {
  return is ? [offered] : [];
}
