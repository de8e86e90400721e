import { styleText } from 'node:util';
import Table from 'cli-table3';
import type { LoadCounts, OriginReport, ServiceReport, TrafficReport } from './reports.ts';

/** All that the live view shows. */
export interface Sight {
  readonly origin: OriginReport;
  readonly service: ServiceReport;
  readonly traffic: TrafficReport;
  readonly readsPerSecond: number;
  readonly secondsPassed: number;
  readonly seconds: number;
}

const BAR_WIDTH = 40;

/** A table without lines between its rows and without colours of its own. */
export const PLAIN: Readonly<Pick<Table.TableConstructorOptions, 'chars' | 'style'>> = {
  chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  style: { head: [], border: [] },
};

/** One of facts, each with its name in front. */
export const FACTS: Readonly<Pick<Table.TableConstructorOptions, 'colWidths'>> = { colWidths: [12, 65] };

/** The live view, at most 80 columns wide. */
export function view(sight: Sight): string {
  const { origin, service, traffic } = sight;
  const table = new Table({ ...PLAIN, ...FACTS });
  table.push(
    ['origin', phaseText(origin)],
    ['', `${count(origin.requests)} requests so far`],
    ['value', valueText(service)],
    ['next load', nextLoadText(service)],
    ['loads', loadsText(service.loads)],
    ['last error', service.lastError === undefined ? '-' : paint('red', service.lastError)],
    ['reads', `${count(sight.readsPerSecond)} per second, p99 ${ms(traffic.recentP99)}`],
    ['', `${count(traffic.reads)} so far, ${errorsText(traffic.errors)}`],
  );
  return `${title(sight)}\n${table}`;
}

/** The same in one line, where there is no terminal to redraw. */
export function line({ origin, service, traffic, readsPerSecond, secondsPassed }: Sight): string {
  return [
    `${secondsPassed.toFixed(0).padStart(3)} s`,
    `origin ${origin.phase.title}`,
    `${service.state}, ${seconds(service.age)} old`,
    `loads ${loadsText(service.loads)}`,
    `${count(readsPerSecond)} reads/s, p99 ${ms(traffic.recentP99)}, ${traffic.errors} errors`,
  ].join(' | ');
}

export function count(n: number): string {
  return Math.round(n).toLocaleString('en');
}

export function ms(n: number): string {
  return `${n.toFixed(n < 1 ? 2 : 1)} ms`;
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Loads by outcome, in words. */
export function loadsText({ started, succeeded, kept, failed, timedOut }: LoadCounts): string {
  return `${started} started: ${succeeded} new, ${kept} unchanged, ${failed} failed, ${timedOut} timed out`;
}

/** The name, and how much of the run is over. */
export function title({ secondsPassed, seconds: all }: Pick<Sight, 'secondsPassed' | 'seconds'>): string {
  const done = Math.min(BAR_WIDTH, Math.round((secondsPassed / all) * BAR_WIDTH));
  const bar = '█'.repeat(done) + '░'.repeat(BAR_WIDTH - done);
  return ` ${paint('bold', 'tickless')}  ${bar}  ${secondsPassed.toFixed(0)} of ${all} s`;
}

function phaseText({ phase }: OriginReport): string {
  return paint(phase.behaviour === 'steady' ? 'green' : 'yellow', phase.title);
}

function valueText({ state, age, edition }: ServiceReport): string {
  return `edition ${edition}, ${paint(state === 'fresh' ? 'green' : 'yellow', state)}, ${seconds(age)} old`;
}

function nextLoadText({ running, nextExecuteTime, failures }: ServiceReport): string {
  const wait = nextExecuteTime - Date.now();
  const when = running ? 'running now' : wait > 0 ? `in ${seconds(wait)}` : 'with the next read';
  return failures === 0 ? when : `${when}, after ${failures} failure${failures === 1 ? '' : 's'} in a row`;
}

function errorsText(errors: number): string {
  return errors === 0 ? paint('green', '0 errors') : paint('red', `${count(errors)} errors`);
}

/** Colours a text, where there is a terminal. */
export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
}
