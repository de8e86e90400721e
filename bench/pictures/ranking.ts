import { axis, grouped, OURS, type Picture, THEIRS } from './picture.ts';

/** A picture of one figure for each of several candidates. */
export interface Ranking extends Pick<Picture, 'name' | 'title' | 'subtitle'> {
  /** The label of the figures, with their unit. */
  readonly unit: string;
  readonly isLogarithmic: boolean;
  readonly figures: readonly { readonly name: string; readonly value: number }[];
}

/** Bars from the least figure to the greatest, tickless in its own colour. */
export function ranking({ name, title, subtitle, unit, isLogarithmic, figures }: Ranking): Picture {
  const rows = figures.toSorted((a, b) => a.value - b.value);
  const looks = axis(unit, 34);
  const greatest = rows.at(-1)?.value ?? 1;
  return {
    name,
    title,
    subtitle,
    height: 150 + 32 * rows.length,
    option: {
      grid: { left: 200, right: 40, top: 76, bottom: 62 },
      xAxis: {
        ...looks,
        axisLabel: { ...looks.axisLabel, showMaxLabel: false },
        ...(isLogarithmic
          ? { type: 'log' as const, min: 1, max: 10 ** (Math.log10(greatest) + 0.15) }
          : { type: 'value' as const, max: Math.ceil(greatest * 1.1) }),
      },
      yAxis: {
        ...axis('', 0),
        type: 'category',
        inverse: true,
        splitLine: { show: false },
        data: rows.map((row) => row.name),
      },
      series: {
        type: 'bar',
        barWidth: 18,
        data: rows.map((row) => ({
          value: row.value,
          itemStyle: { color: row.name.startsWith('tickless') ? OURS : THEIRS },
        })),
        label: {
          show: true,
          position: 'right',
          formatter: ({ value }: { value: unknown }) => short(Number(value)),
        },
      },
    },
  };
}

function short(value: number): string {
  return value < 10 ? grouped(value) : grouped(Math.round(value));
}
