import { axis, legend, type Picture } from './picture.ts';

/** A picture of a cost against a number. */
export interface Growth extends Pick<Picture, 'name' | 'title' | 'subtitle'> {
  /** The subject of that number. */
  readonly of: string;
  readonly unit: string;
  /** Where the lower axis begins. */
  readonly from: number;
  readonly lines: readonly {
    readonly name: string;
    readonly color?: string;
    readonly points: readonly (readonly [number, number])[];
  }[];
}

/** Lines on two logarithmic axes. */
export function growth({ name, title, subtitle, of, unit, from, lines }: Growth): Picture {
  const isWide = lines.length > 3; // a legend of two lines
  return {
    name,
    title,
    subtitle,
    height: 430,
    option: {
      grid: { left: 96, right: 50, top: isWide ? 140 : 108, bottom: 62 },
      legend,
      xAxis: { ...axis(of, 34), type: 'log', min: from },
      yAxis: { ...axis(unit, 66), type: 'log' },
      series: lines.map((line, i) => ({
        type: 'line' as const,
        name: line.name,
        data: line.points.map((point) => [...point]),
        symbol: ['circle', 'rect', 'triangle', 'diamond'][i % 4] ?? 'circle',
        symbolSize: 8,
        lineStyle: { width: 2.5 },
        ...(line.color === undefined ? {} : { color: line.color }),
      })),
    },
  };
}
