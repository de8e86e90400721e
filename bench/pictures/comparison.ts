import { axis, grouped, legend, type Picture } from './picture.ts';

/** A picture of several figures in several cases. */
export interface Comparison extends Pick<Picture, 'name' | 'title' | 'subtitle'> {
  readonly unit: string;
  readonly cases: readonly string[];
  /** One value for each case. */
  readonly figures: readonly {
    readonly name: string;
    readonly color: string;
    readonly values: readonly number[];
  }[];
}

/** Groups of bars, one for each case. */
export function comparison({ name, title, subtitle, unit, cases, figures }: Comparison): Picture {
  const greatest = Math.max(...figures.flatMap(({ values }) => values));
  return {
    name,
    title,
    subtitle,
    height: 400,
    option: {
      grid: { left: 70, right: 30, top: 116, bottom: 52 },
      legend,
      xAxis: { ...axis('', 0), type: 'category', splitLine: { show: false }, data: [...cases] },
      yAxis: { ...axis(unit, 44), type: 'value', interval: 0.5, max: Math.ceil(2 * greatest + 0.3) / 2 },
      series: figures.map((figure) => ({
        type: 'bar' as const,
        name: figure.name,
        itemStyle: { color: figure.color },
        data: [...figure.values],
        barGap: '8%',
        label: {
          show: true,
          position: 'top' as const,
          formatter: ({ value }: { value: unknown }) => grouped(Number(value)),
        },
      })),
    },
  };
}
