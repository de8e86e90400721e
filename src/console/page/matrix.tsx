import { useSignal } from '@preact/signals';
import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core';
import type { ComponentChild } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Cell, emptyText, type InstanceColumn, type MemberRow } from '../rows.ts';
import { age, duration, text, until, version } from './format.ts';
import { memberLink } from './route.ts';
import { overview, row, shown } from './state.ts';

/** In pixels; on narrow screens a row has two lines. The style sheet has the same. */
const ROW_HEIGHT = 36;
const NARROW_HEIGHT = 76;
const NARROW = '(max-width: 720px)';

/** Rows beyond the view, so that the keyboard reaches the next one. */
const OVERSCAN = 8;

/** Few rows are all rendered: a search of the browser finds them. */
const ALL_ROWS = 150;

/** Members × instances. Of many rows only those in view are rendered; all of them for print. */
export function Matrix(): ComponentChild {
  const list = useRef<HTMLDivElement>(null);
  const changes = useSignal(0);
  const isPrinting = useSignal(false);
  changes.value;
  const ids = shown.value;
  const columns = overview.value?.instances ?? [];
  const isWhole = ids.length <= ALL_ROWS || isPrinting.value;
  const options = {
    count: isWhole ? 0 : ids.length,
    getScrollElement: () => window,
    estimateSize: () => (matchMedia(NARROW).matches ? NARROW_HEIGHT : ROW_HEIGHT),
    scrollMargin: list.current?.offsetTop ?? 0,
    overscan: OVERSCAN,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    onChange: () => {
      changes.value += 1;
    },
  };
  const virtual = useMemo(() => new Virtualizer<Window, HTMLDivElement>(options), []);
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  useLayoutEffect(() => {
    const begin = (): void => {
      isPrinting.value = true;
    };
    const end = (): void => {
      isPrinting.value = false;
    };
    const narrow = matchMedia(NARROW);
    const measure = (): void => virtual.measure();
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    narrow.addEventListener('change', measure);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
      narrow.removeEventListener('change', measure);
    };
  }, []);

  const visible = isWhole
    ? ids.map((id, index) => ({ id, index, top: undefined }))
    : virtual.getVirtualItems().flatMap(({ index, start }) => {
        const id = ids[index];
        return id === undefined ? [] : [{ id, index, top: start - options.scrollMargin }];
      });
  // A row that leaves the view gives its elements to the one that comes into it: most signs are the same.
  const slots = useRef(32);
  slots.current = Math.max(slots.current, visible.length + 8);
  return (
    <div
      class="matrix"
      role="table"
      aria-label="Members on all instances"
      aria-rowcount={ids.length + 1}
      aria-colcount={4 + columns.length}
    >
      <div role="rowgroup">
        <div role="row" class="row head" aria-rowindex={1}>
          <span role="columnheader">Member</span>
          <span role="columnheader">Here</span>
          <span role="columnheader">Age</span>
          <span role="columnheader">Next load</span>
          <span class="cells">
            {columns.map((column) => (
              <Column key={column.id} column={column} />
            ))}
          </span>
        </div>
      </div>
      <div
        role="rowgroup"
        ref={list}
        class={isWhole ? 'rows' : 'rows virtual'}
        onPointerOver={showTitle}
        style={isWhole ? undefined : { height: `${virtual.getTotalSize()}px` }}
      >
        {visible.map(({ id, index, top }) => (
          <Row key={isWhole ? id : index % slots.current} id={id} index={index} top={top} columns={columns} />
        ))}
      </div>
    </div>
  );
}

/** Shows the label of a sign to the mouse: a title for each would be thousands. */
function showTitle({ target }: Event): void {
  if (target instanceof HTMLElement && target.classList.contains('cell'))
    target.title = target.ariaLabel ?? '';
}

function Column({ column: { label, isHere, leftOut } }: { column: InstanceColumn }) {
  const name = text(label, 80);
  const more = `${isHere ? ' (this instance)' : ''}${leftOut > 0 ? `, ${leftOut} members are not in its report` : ''}`;
  return (
    <span
      role="columnheader"
      class={isHere ? 'instance here' : 'instance'}
      title={`${name}${more}`}
      aria-label={`${name}${more}`}
    >
      <bdi>{name}</bdi>
    </span>
  );
}

interface RowProps {
  readonly id: string;
  readonly index: number;
  readonly top: number | undefined;
  readonly columns: readonly InstanceColumn[];
}

function Row({ id, index, top, columns }: RowProps) {
  const element = useRef<HTMLDivElement>(null);
  // Enter on a link must not lead to another member than the one that had the focus.
  useLayoutEffect(() => {
    const { activeElement } = document;
    if (activeElement instanceof HTMLElement && element.current?.contains(activeElement))
      activeElement.blur();
  }, [id]);
  const one = row(id)?.value;
  if (one === undefined) return null;
  const { here, level, name, problems, namespace } = one;
  const place = top === undefined ? undefined : { transform: `translateY(${top}px)` };
  const full = text(namespace === undefined ? name : `${namespace}/${name}`);
  return (
    <div ref={element} role="row" class={`row ${level}`} aria-rowindex={index + 2} style={place}>
      <span role="rowheader" class="name">
        <a href={memberLink(id)} title={full}>
          <bdi>{full}</bdi>
        </a>
        {problems[0] && (
          <span class="problem" title={text(problems[0].message)}>
            <bdi>{text(problems[0].message, 200)}</bdi>
          </span>
        )}
      </span>
      <span role="cell" class="state">
        {stateText(one)}
      </span>
      <span role="cell" class="age">
        <Age of={one} />
      </span>
      <span role="cell" class="next">
        {here.nextAt === undefined ? '' : until(here.nextAt)}
      </span>
      <span class="cells">
        <Cells of={one} columns={columns} />
      </span>
    </div>
  );
}

function Age({ of: { here } }: { of: MemberRow }) {
  if (here.loadedAt === undefined) return <>{here.state === 'keys' ? `${here.size} keys` : '–'}</>;
  const limit = here.maxStaleness;
  return (
    <>
      {age(here.loadedAt)}
      {limit !== undefined && <span class="quiet"> of {duration(limit)}</span>}
    </>
  );
}

const STATES: { readonly [state in MemberRow['here']['state']]: string } = {
  fresh: 'fresh',
  stale: 'due',
  'too-stale': 'too old',
  empty: '',
  absent: 'absent',
  done: 'done',
  due: 'due',
  keys: 'cache',
};

export function stateText({ here }: Pick<MemberRow, 'here'>): string {
  const { running, loading = 0, closed, paused, pinned, failures = 0, readsFailed = 0, state } = here;
  const more = [
    ...(running ? ['loading'] : []),
    ...(loading > 0 ? [`${loading} loading`] : []),
    ...(failures > 0 ? [state === 'keys' ? `${failures} failing` : `failed ×${failures}`] : []),
    ...(readsFailed > 0 ? [`${readsFailed} reads refused`] : []),
    ...(pinned ? ['pinned'] : []),
    ...(paused ? ['paused'] : []),
    ...(closed ? ['closed'] : []),
  ];
  return [STATES[state] || emptyText(here), ...more].join(', ');
}

function Cells({ of, columns }: { of: MemberRow; columns: readonly InstanceColumn[] }) {
  const byInstance = new Map(of.cells.map((cell) => [cell.on, cell]));
  return (
    <>
      {columns.map(({ id, label: name }) => {
        const { sign, kind, says } = signOf(of, byInstance.get(id));
        const label = `${text(name, 80)}: ${says}`;
        return (
          <span key={id} role="cell" class={`cell ${kind}`} aria-label={label}>
            {sign}
          </span>
        );
      })}
    </>
  );
}

/** What an instance says of a member, as a sign and in words. */
function signOf(
  { kind: of }: MemberRow,
  cell: Cell | undefined,
): { readonly sign: string; readonly kind: string; readonly says: string } {
  if (cell === undefined) return { sign: '·', kind: 'none', says: 'not reported' };
  const { version: held, loadedAt, failures, error, quarantine, pinnedBy, behind } = cell;
  if (failures !== undefined)
    return { sign: '✕', kind: 'warn', says: `failing: ${text(error ?? 'unknown error', 200)}` };
  if (quarantine !== undefined) return { sign: '!', kind: 'warn', says: `refused: ${text(quarantine, 200)}` };
  if (behind) return { sign: '▲', kind: 'note', says: `older version ${version(held)}` };
  if (pinnedBy !== undefined) return { sign: '◆', kind: 'note', says: `pinned by ${text(pinnedBy, 80)}` };
  if (of === 'executor')
    return {
      sign: '●',
      kind: 'ok',
      says: loadedAt === undefined ? 'no success yet' : `last success ${age(loadedAt)} ago`,
    };
  if (of === 'value' && loadedAt === undefined) return { sign: '○', kind: 'none', says: 'no value' };
  return { sign: '●', kind: 'ok', says: `version ${version(held)}` };
}
