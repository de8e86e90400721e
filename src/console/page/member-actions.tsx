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

const HERE: Field = { name: 'here', label: 'Only on this instance', isFlag: true };

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
  then: () => void;
}): ComponentChild {
  const { id, keyId, detail, then } = props;
  const isOpen = useSignal(false);
  const allowed = session.value?.actions ?? [];
  const offered = offeredFor(detail).filter(({ action }) => allowed.includes(action));
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
function offeredFor({ kind, key, here, refused, backends, history: [present] }: Detail): readonly Offered[] {
  const isEntry = kind !== 'cache' || key !== undefined;
  const isValue = kind === 'value';
  const hasValue = isValue || key !== undefined;
  const canShare = backends.lock && backends.store;
  const narrowed: readonly Field[] = canShare ? [HERE] : [];
  const where = canShare ? 'all instances' : 'this instance';
  const name = kind === 'executor' ? 'Execute' : 'Refresh';
  return [
    ...when(isEntry, {
      action: 'refresh',
      label: `${name} now`,
      says:
        hasValue && canShare
          ? 'Loads here now, or joins the load under way; the other instances take the result over.'
          : 'Starts a load now, or joins the one under way.',
    }),
    ...when(isEntry && here.failures !== undefined, {
      action: 'end-cool-down',
      label: 'End cool-down',
      isFitting: refused === undefined,
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
      says: `The next read on ${where} starts a load, and is served the old value meanwhile.`,
      fields: narrowed,
    }),
    ...when(kind !== 'executor', {
      action: 'invalidate',
      label: hasValue ? 'Drop' : 'Drop all keys',
      says: `Forgets the value on ${where}: the next read waits for a load.`,
      body: { drop: true, since: here.loadedAt },
      fields: narrowed,
      isGrave: true,
    }),
    ...when(!key && !here.paused, {
      action: 'pause',
      label: 'Pause',
      says: `Reads on ${where} start no loads until it is resumed.`,
      fields: narrowed,
      isGrave: canShare,
    }),
    ...when(!key && here.paused === true, {
      action: 'resume',
      label: 'Resume',
      isFitting: true,
      says: `Reads on ${where} start loads again.`,
      fields: narrowed,
    }),
    ...when(!key, {
      action: 'reschedule',
      label: 'Reschedule',
      says: 'Loads at fixed intervals on this instance, until it is started again.',
      fields: [EVERY],
    }),
    ...when(refused?.digest !== undefined, {
      action: 'refresh',
      body: { digest: refused?.digest },
      label: 'Load it anyway',
      isFitting: true,
      says: 'Loads past the guard, if the source still has the refused value that is shown here.',
      isGrave: true,
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
