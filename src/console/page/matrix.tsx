import { useSignal } from '@preact/signals';
import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core';
import type { ComponentChild } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { causeOf, firstProblem, type Line, membersOf, notShared } from '../causes.ts';
import type { Cell, InstanceColumn, MemberRow } from '../rows.ts';
import { counted, emptyText, stateText } from '../words.ts';
import { age, brief, duration, minute, text, until, version } from './format.ts';
import { memberLink } from './route.ts';
import { lines, now, overview, row, shown, unfolded } from './state.ts';

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
  const all = isPrinting.value ? membersOf(shown.value) : lines.value;
  const columns = overview.value?.instances ?? [];
  const isWhole = all.length <= ALL_ROWS || isPrinting.value;
  const options = {
    count: isWhole ? 0 : all.length,
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
    ? all.map((line, index) => ({ line, index, top: undefined }))
    : virtual.getVirtualItems().flatMap(({ index, start }) => {
        const line = all[index];
        return line === undefined ? [] : [{ line, index, top: start - options.scrollMargin }];
      });
  // A row that leaves the view gives its elements to the one that comes into it: most signs are the same.
  const slots = useRef(32);
  slots.current = Math.max(slots.current, visible.length + 8);
  return (
    <div
      class="matrix"
      role="table"
      aria-label="Members on all instances"
      aria-rowcount={all.length + 1}
      aria-colcount={5 + columns.length}
    >
      <div role="rowgroup">
        <div role="row" class="row head" aria-rowindex={1}>
          <span role="columnheader">Member</span>
          <span role="columnheader">Problem</span>
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
        {visible.map(({ line, index, top }) => {
          const key = isWhole ? line.id : index % slots.current;
          return line.kind === 'member' ? (
            <Row key={key} id={line.id} isInside={line.isInside} index={index} top={top} columns={columns} />
          ) : (
            <CauseRow key={key} of={line} index={index} top={top} />
          );
        })}
      </div>
    </div>
  );
}

/** Shows the label of a sign to the mouse: a title for each would be thousands. */
function showTitle({ target }: Event): void {
  if (target instanceof HTMLElement && target.classList.contains('cell'))
    target.title = target.ariaLabel ?? '';
}

function Column({ column: { label, isHere, isIdle, seenAt, leftOut } }: { column: InstanceColumn }) {
  const name = text(label, 80);
  const idle = isIdle ? `, last seen ${age(seenAt)} ago, idle or gone` : '';
  const more = `${isHere ? ' (this instance)' : ''}${idle}${leftOut > 0 ? `, ${leftOut} members are not in its report` : ''}`;
  return (
    <span
      role="columnheader"
      class={['instance', isHere && 'here', isIdle && 'idle'].filter(Boolean).join(' ')}
      title={`${name}${more}`}
      aria-label={`${name}${more}`}
    >
      <bdi>{name}</bdi>
    </span>
  );
}

interface RowProps {
  readonly id: string;
  /** Below the line of its cause. */
  readonly isInside: boolean;
  readonly index: number;
  readonly top: number | undefined;
  readonly columns: readonly InstanceColumn[];
}

function placeOf(top: number | undefined): { readonly transform: string } | undefined {
  return top === undefined ? undefined : { transform: `translateY(${top}px)` };
}

/** Members that fail for one cause, in one line that unfolds. */
function CauseRow({
  of: { id, level, cause, count, since },
  index,
  top,
}: {
  of: Extract<Line, { kind: 'cause' }>;
  index: number;
  top: number | undefined;
}) {
  const isOpen = unfolded.value.has(id);
  const fold = (): void => {
    const next = new Set(unfolded.value);
    if (!next.delete(id)) next.add(id);
    unfolded.value = next;
  };
  return (
    <div role="row" class={`row grouped ${level}`} aria-rowindex={index + 2} style={placeOf(top)}>
      <span role="cell">
        <button type="button" class="fold" aria-expanded={isOpen} title={text(cause)} onClick={fold}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> <b>{counted(count, 'member')}</b>
          {since !== undefined &&
            `, ${level === 'backup' ? '' : 'failing '}since ${minute(since)}, ${age(since)}`}
          : <bdi>{text(cause)}</bdi>
        </button>
      </span>
    </div>
  );
}

function Row({ id, isInside, index, top, columns }: RowProps) {
  const element = useRef<HTMLDivElement>(null);
  // Enter on a link must not lead to another member than the one that had the focus.
  useLayoutEffect(() => {
    const { activeElement } = document;
    if (activeElement instanceof HTMLElement && element.current?.contains(activeElement))
      activeElement.blur();
  }, [id]);
  const one = row(id)?.value;
  if (one === undefined) return null;
  const { here, level, name } = one;
  const full = text(name);
  const problem = problemText(one, isInside);
  // What never had a value has neither an age nor, mostly, a next load: the problem has their room.
  const hasNone = problem !== '' && here.loadedAt === undefined && here.state !== 'keys';
  const classes = ['row', level, isInside && 'inside', hasNone && 'wide'].filter(Boolean).join(' ');
  return (
    <div ref={element} role="row" class={classes} aria-rowindex={index + 2} style={placeOf(top)}>
      <span role="rowheader" class="name">
        <a href={memberLink(id)} title={full}>
          <bdi>{full}</bdi>
        </a>
      </span>
      <span role="cell" class="problem" title={problem} aria-colspan={hasNone ? 3 : undefined}>
        <bdi>{problem}</bdi>
      </span>
      {!hasNone && (
        <>
          <span role="cell" class="state" title={stateText(one)}>
            {stateText(one)}
          </span>
          <span role="cell" class="age">
            <Age of={one} />
          </span>
        </>
      )}
      <span role="cell" class="next">
        {here.nextAt === undefined ? '' : until(here.nextAt, brief)}
      </span>
      <span class="cells">
        <Cells of={one} columns={columns} />
      </span>
    </div>
  );
}

/** @param isInside its cause is in the line above. */
function problemText(one: MemberRow, isInside: boolean): string {
  const { here, level } = one;
  const { first } = firstProblem(one);
  if (first === undefined) return '';
  if (level === 'unshared') return isInside ? '' : notShared(one);
  const { message, cause = message } = first;
  if (first.since !== undefined) {
    const backup = `since ${minute(first.since)}, ${age(first.since)}`;
    return isInside && causeOf(one) === cause ? backup : `${backup}: ${text(message)}`;
  }
  const { failingSince: since, loadedAt, state } = here;
  const none = loadedAt === undefined && state !== 'keys' ? `${emptyText(here)}, ` : '';
  if (since === undefined) return text(here.refusesReads ? `${none}${message}` : message);
  const failing = `${none}failing since ${minute(since)}, ${age(since)}`;
  return isInside && causeOf(one) === cause ? failing : `${failing}: ${text(cause)}`;
}

function Age({ of: { here } }: { of: MemberRow }) {
  if (here.loadedAt === undefined) return <>–</>;
  const limit = here.maxStaleness;
  return (
    <>
      {brief(now.value - here.loadedAt)}
      {limit !== undefined && <span class="quiet"> of {duration(limit)}</span>}
    </>
  );
}

function Cells({ of, columns }: { of: MemberRow; columns: readonly InstanceColumn[] }) {
  const byInstance = new Map(of.cells.map((cell) => [cell.on, cell]));
  // A process with two stores has two columns: the member reports to one of them, or to none.
  const own = columns.filter(({ isHere }) => isHere);
  const here = (own.find(({ id }) => byInstance.has(id)) ?? own[0])?.id;
  return (
    <>
      {columns.map(({ id, label: name, isIdle }) => {
        const { sign, kind, says } = signOf(of, byInstance.get(id), id === here);
        const label = `${text(name, 80)}: ${says}${isIdle ? ', idle or gone' : ''}`;
        return (
          <span key={id} role="cell" class={`cell ${isIdle ? 'none' : kind}`} aria-label={label}>
            {sign}
          </span>
        );
      })}
    </>
  );
}

/** What an instance says of a member, as a sign and in words. */
function signOf(
  { kind: of, here, level }: MemberRow,
  cell: Cell | undefined,
  isHere: boolean,
): { readonly sign: string; readonly kind: string; readonly says: string } {
  if (isHere && level === 'bad')
    return {
      sign: '✖',
      kind: 'bad',
      says: `reads fail${here.error === undefined ? '' : `: ${text(here.error, 200)}`}`,
    };
  if (cell === undefined) return { sign: '·', kind: 'none', says: 'not reported' };
  const { version: held, loadedAt, failures, error, refused, pinnedBy, behind } = cell;
  if (failures !== undefined)
    return { sign: '✕', kind: 'warn', says: `failing: ${text(error ?? 'unknown error', 200)}` };
  if (refused !== undefined) return { sign: '!', kind: 'warn', says: `refused: ${text(refused, 200)}` };
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
