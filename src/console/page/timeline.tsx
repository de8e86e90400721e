import type { ComponentChild } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Detail } from '../detail.ts';
import { clock, duration, text } from './format.ts';
import { OUTCOMES, type Round, roundsOf } from './rounds.ts';
import { type Column, Table } from './table.tsx';

const COLUMNS: readonly Column<Round>[] = [
  { head: 'At', cell: ({ at }) => clock(at) },
  { head: 'Outcome', cell: (round) => saysOf(round) },
  { head: 'Took', cell: ({ took }) => (took === undefined ? '–' : duration(took)) },
  { head: 'By', cell: ({ by }) => <bdi>{text(by, 80)}</bdi> },
];

/** The last rounds as a picture: when, how long, by which instance, with what outcome; and as a list for screen readers. */
export function Timeline({ detail, events }: { detail: Detail; events: Detail['events'] }): ComponentChild {
  const rounds = roundsOf(detail.history, events, detail.at);
  return (
    <section class="wide">
      <h2>Last rounds</h2>
      {rounds.length === 0 ? (
        <p class="quiet">
          None since the page was opened{detail.backends.store ? ', and none in the store' : ''}.
        </p>
      ) : (
        <>
          <Picture rounds={rounds} />
          <ul class="outcomes" aria-hidden="true">
            {Object.entries(OUTCOMES).map(([outcome, { label }]) => (
              <li key={outcome}>
                <span class={`swatch ${outcome}`} /> {label}
              </li>
            ))}
          </ul>
          <details>
            <summary>As a table</summary>
            <Table
              label="Rounds"
              columns={COLUMNS}
              rows={[...rounds].reverse()}
              keyOf={({ at, outcome }) => `${at} ${outcome}`}
            />
          </details>
        </>
      )}
    </section>
  );
}

function saysOf({ outcome, tookOver, error }: Round): string {
  const more = [...(tookOver ? ['took over'] : []), ...(error ? [text(error, 200)] : [])];
  return [OUTCOMES[outcome].label, ...more].join(', ');
}

/** One bar a round; its height is how long the load took. */
function Picture({ rounds }: { rounds: readonly Round[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = dataOf(rounds);
  const latest = useRef(rounds);
  latest.current = rounds;
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
  const last = rounds.at(-1);
  const summary = `${rounds.length} rounds, the last one ${last === undefined ? '' : `at ${clock(last.at)}: ${saysOf(last)}`}`;
  return <div ref={place} class="plot" role="img" aria-label={summary} />;
}

const NAMES = Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[];

/** A series for each outcome; rounds side by side. A time of 0, or an unknown one, is a bar of 1 ms. */
function dataOf(rounds: readonly Round[]): uPlot.AlignedData {
  const places = rounds.map((_, index) => index);
  const series = NAMES.map((name) =>
    rounds.map(({ outcome, took = 1 }) => (outcome === name ? Math.max(1, took) : null)),
  );
  return [places, ...series];
}

function optionsFor(element: HTMLElement, rounds: { readonly current: readonly Round[] }): uPlot.Options {
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
      x: { time: false, range: () => [-0.5, Math.max(7.5, rounds.current.length - 0.5)] },
      y: { distr: 3, log: 10, range: (_, low, high) => [Math.max(0.5, low / 2), Math.max(10, high * 2)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 50,
        space: 100,
        incrs: [1, 2, 5, 10, 20],
        values: (_, places) => places.map((place) => labelOf(rounds.current[place])),
      },
      { ...axis, size: 64, values: (_, ticks) => ticks.map((ms) => (ms === null ? '' : duration(ms))) },
    ],
    series: [
      {},
      ...NAMES.map((name) => ({
        label: OUTCOMES[name].label,
        stroke: color(OUTCOMES[name].color),
        fill: color(OUTCOMES[name].color),
        ...(bars === undefined ? {} : { paths: bars }),
        points: { show: false },
      })),
    ],
  };
}

/** When, and which instance led. */
function labelOf(round: Round | undefined): string {
  if (round === undefined) return '';
  return `${clock(round.at)}\n${text(round.by, 14)}${round.tookOver ? ' took over' : ''}`;
}
