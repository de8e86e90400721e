import type { ComponentChild } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Detail } from '../detail.ts';
import { counted, executionText } from '../words.ts';
import { clock, duration, text } from './format.ts';

type Execution = Detail['executions'][number];

/** What the bars show, each in a color of the style sheet. */
const GROUPS = {
  loaded: { label: 'loaded, or done', color: '--ok' },
  kept: { label: 'nothing new', color: '--kept' },
  adopted: { label: 'adopted from another instance', color: '--elsewhere' },
  failed: { label: 'failed', color: '--bad' },
  cancelled: { label: 'cancelled', color: '--note' },
} as const;
type Group = keyof typeof GROUPS;

const GROUP_OF: { readonly [outcome in Execution['outcome']]: Group } = {
  loaded: 'loaded',
  done: 'loaded',
  kept: 'kept',
  absent: 'kept',
  adopted: 'adopted',
  deferred: 'adopted',
  failed: 'failed',
  refused: 'failed',
  'timed-out': 'failed',
  cancelled: 'cancelled',
  late: 'cancelled',
};

/** At most as many bars. */
const MOST = 40;

/** Executions as a picture: when, how long, on which instance, with what outcome. */
export function Timeline({ of }: { of: Detail['executions'] }): ComponentChild {
  return (
    <>
      <Picture executions={of.slice(0, MOST).reverse()} />
      <ul class="outcomes" aria-hidden="true">
        {Object.entries(GROUPS).map(([group, { label }]) => (
          <li key={group}>
            <span class={`swatch ${group}`} /> {label}
          </li>
        ))}
      </ul>
    </>
  );
}

/** One bar an execution; its height is how long it took. */
function Picture({ executions }: { executions: readonly Execution[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = dataOf(executions);
  const latest = useRef(executions);
  latest.current = executions;
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const make = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsFor(element, latest), data, element);
    };
    make();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const resize = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: 180 }),
    );
    resize.observe(element);
    dark.addEventListener('change', make);
    return () => {
      resize.disconnect();
      dark.removeEventListener('change', make);
      plot.current?.destroy();
    };
  }, []);
  const text = JSON.stringify(data);
  useEffect(() => {
    if (plot.current?.data !== data) plot.current?.setData(data);
  }, [text]);
  const last = executions.at(-1);
  const summary = `${counted(executions.length, 'execution')}, the last one ${last === undefined ? '' : `at ${clock(last.startedAt)}: ${executionText(last)}`}`;
  return <div ref={place} class="plot" role="img" aria-label={summary} />;
}

const NAMES = Object.keys(GROUPS) as readonly Group[];

/** A series for each group, side by side. A time of 0 is a bar of 1 ms. */
function dataOf(executions: readonly Execution[]): uPlot.AlignedData {
  const places = executions.map((_, index) => index);
  const series = NAMES.map((name) =>
    executions.map(({ outcome, took }) => (GROUP_OF[outcome] === name ? Math.max(1, took) : null)),
  );
  return [places, ...series];
}

function optionsFor(
  element: HTMLElement,
  executions: { readonly current: readonly Execution[] },
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--quiet'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
  };
  const bars = uPlot.paths.bars?.({ size: [0.5, 32] });
  return {
    width: element.clientWidth || 600,
    height: 180,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => [-0.5, Math.max(7.5, executions.current.length - 0.5)] },
      y: { distr: 3, log: 10, range: (_, low, high) => [Math.max(0.5, low / 2), Math.max(10, high * 2)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 50,
        space: 100,
        incrs: [1, 2, 5, 10, 20],
        values: (_, places) => places.map((place) => labelOf(executions.current[place])),
      },
      { ...axis, size: 64, values: (_, ticks) => ticks.map((ms) => (ms === null ? '' : duration(ms))) },
    ],
    series: [
      {},
      ...NAMES.map((name) => ({
        label: GROUPS[name].label,
        stroke: color(GROUPS[name].color),
        fill: color(GROUPS[name].color),
        ...(bars === undefined ? {} : { paths: bars }),
        points: { show: false },
      })),
    ],
  };
}

/** When, and on which instance. */
function labelOf(one: Execution | undefined): string {
  return one === undefined ? '' : `${clock(one.startedAt)}\n${text(one.on ?? 'here', 14)}`;
}
