import { type EChartsOption, init, type LegendComponentOption, setPlatformAPI } from 'echarts';

/** One picture of the figures. */
export interface Picture {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly title: string;
  /** The conditions of the figures. */
  readonly subtitle: string;
  readonly height: number;
  readonly option: EChartsOption;
}

/** In GitHub's README a picture is about as wide as this. */
const WIDTH = 840;

/** That of tickless in all pictures. */
export const OURS = '#1f6feb';
/** That of tickless where it is there twice. */
export const OURS_TOO = '#8cb8fa';
/** That of the others, where they are one. */
export const THEIRS = '#8a8f98';
export const THEIRS_TOO = '#c4c8ce';
const COLORS = [OURS, THEIRS, '#d1782a', '#2f9e6e', '#9a5fc1'];
const LINES = '#d9dde2';
const FONT = { fontFamily: 'Helvetica, Arial, sans-serif', fontSize: 13, color: '#24292f' };

// The fonts of the reader are unknown, so there is room for wide ones. (The height of a line is measured by a Chinese
// character, which is as high as it is wide.)
setPlatformAPI({
  measureText: (text, font = '') => {
    const size = Number.parseFloat(/[\d.]+(?=px)/.exec(font)?.[0] ?? '') || FONT.fontSize;
    return { width: text.length * size * (text > '\u2e80' ? 1 : 0.58) };
  },
});

/** Readable on any background: it has its own. */
export function draw({ title, subtitle, height, option }: Picture): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    color: COLORS,
    textStyle: FONT,
    title: {
      text: title,
      subtext: subtitle,
      left: 20,
      top: 14,
      itemGap: 6,
      textStyle: { ...FONT, fontSize: 17, fontWeight: 'bold' },
      subtextStyle: { ...FONT, color: '#57606a' },
    },
    ...option,
  });
  const svg = chart.renderToSVGString({ useViewBox: true });
  chart.dispose();
  // For screen readers. The titles have no characters that need escapes.
  return `${svg.replace(/^<svg[^>]*/, `$& role="img" aria-label="${title}"`)}\n`;
}

/** The style of all axes. */
interface AxisLooks {
  readonly name: string;
  readonly nameLocation: 'middle';
  readonly nameGap: number;
  readonly nameTextStyle: typeof FONT;
  readonly axisLabel: typeof FONT & { readonly formatter: typeof axisLabel };
  readonly axisLine: { readonly lineStyle: { readonly color: string } };
  readonly axisTick: { readonly show: boolean };
  readonly splitLine: { readonly show: boolean; readonly lineStyle: { readonly color: string } };
}

export function axis(name: string, nameGap: number): AxisLooks {
  return {
    name,
    nameLocation: 'middle',
    nameGap,
    nameTextStyle: FONT,
    axisLabel: { ...FONT, formatter: axisLabel },
    axisLine: { lineStyle: { color: THEIRS } },
    axisTick: { show: false },
    splitLine: { show: true, lineStyle: { color: LINES } },
  };
}

/** Below the title. */
export const legend: LegendComponentOption = {
  left: 20,
  top: 66,
  itemWidth: 18,
  itemHeight: 10,
  itemGap: 22,
  textStyle: FONT,
};

function axisLabel(label: number | string): string {
  return typeof label === 'number' ? grouped(label) : label;
}

/** 1000: "1,000". */
export function grouped(n: number): string {
  return n.toLocaleString('en', { maximumFractionDigits: 2 });
}
