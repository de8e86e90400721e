import { useSignal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import { makerText, type VersionRecord } from '../../data/version-record.ts';
import type { Detail } from '../detail.ts';
import type { SayError } from '../said.ts';
import type { ShownDifference } from '../shown-value.ts';
import { get, session } from './api.ts';
import { ask } from './confirm.tsx';
import { Difference } from './difference.tsx';
import { bytes, duration, text, version } from './format.ts';
import { now } from './state.ts';
import { type Column, Table } from './table.tsx';

interface Compared extends ShownDifference {
  readonly before: number;
  readonly after: number;
}

/** The versions in the store, with what one changes against the one before, and the way back. */
export function History({
  id,
  detail,
  say,
  then,
}: {
  id: string;
  detail: Detail;
  say: SayError;
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
      body: { id, version: to, present: history[0]?.version },
      fields: [
        { name: 'holdMs', label: 'For how many minutes (empty: until it is unpinned)', isMinutes: true },
        { name: 'note', label: 'Reason, for the other operators and the audit' },
      ],
      then,
    });
  const columns: readonly Column<VersionRecord>[] = [
    {
      head: 'Version',
      title: ({ version: of }) => String(of),
      cell: ({ version: of, isPinned, mark, damage }) => (
        <>
          {version(of)}
          {of === here.version && <span class="tag">here</span>}
          {isPinned && <span class="tag">pinned</span>}
          {mark && <span class="tag">{mark}</span>}
          {damage && <span class="tag bad">damaged</span>}
        </>
      ),
    },
    { head: 'Published', cell: ({ age }) => `${duration(now.value - at + age)} ago` },
    { head: 'Size', cell: ({ bytes: size }) => bytes(size) },
    {
      head: 'By',
      cell: ({ note, ...maker }) => (
        <>
          <bdi>{text(makerText(maker), 80)}</bdi>
          {note && <div class="quiet">{text(note)}</div>}
        </>
      ),
    },
    {
      head: 'Actions',
      isButtons: true,
      cell: ({ version: of, mark }, index) => {
        const before = history[index + 1];
        return (
          <>
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
          </>
        );
      },
    },
  ];
  return (
    <section class="wide">
      <h2>Versions in the store</h2>
      {historyError && <p class="alert">{text(say(historyError))}</p>}
      {history.length === 0 && historyError === undefined && <p class="quiet">none</p>}
      {history.length > 0 && (
        <Table
          label="Versions"
          columns={columns}
          rows={history}
          keyOf={({ version: of }) => of}
          levelOf={({ isPinned }) => isPinned && 'note'}
        />
      )}
      <div aria-live="polite">{compared.value !== undefined && <Comparison of={compared.value} />}</div>
    </section>
  );
}

function Comparison({ of }: { of: Compared | string }) {
  if (typeof of === 'string') return <p>{text(of)}</p>;
  return (
    <>
      <h3>
        From {version(of.before)} to {version(of.after)}
      </h3>
      <Difference of={of} />
    </>
  );
}
