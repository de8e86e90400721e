import { effect } from '@preact/signals';
import type { Level } from '../rows.ts';
import { grouped, levelText } from '../words.ts';
import { connection, counts } from './state.ts';

/** The worst state, as the tab of the browser shows it. */
interface Tab {
  readonly title: string;
  /** Of the sign, as CSS has it: one that is seen on light and dark tabs. */
  readonly color: string;
}

const NAME = 'tickless console';

/** Of the levels that the tab shows, the worst first. */
const COLORS: { readonly [level in Level]?: string } = {
  bad: '#d3222f',
  warn: '#e08a00',
  backup: '#b8860b',
  unshared: '#3f7fd0',
};

/** Pure. @param isGone the console does not answer. */
export function tabOf(isGone: boolean, counts: Readonly<Partial<Record<Level, number>>>): Tab {
  const worst = (Object.keys(COLORS) as Level[]).find((one) => (counts[one] ?? 0) > 0);
  if (isGone) return { title: `no answer – ${NAME}`, color: '#808890' };
  const count = worst === undefined ? 0 : (counts[worst] ?? 0);
  if (worst !== undefined)
    return {
      title: `${grouped(count)}: ${levelText(worst, count)} – ${NAME}`,
      color: COLORS[worst] as string,
    };
  return { title: NAME, color: '#1f9d55' };
}

/** Keeps the title and the sign of the tab up to date. */
export function followTab(): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  effect(() => {
    const { title, color } = tabOf(connection.value === 'offline', counts.value);
    if (document.title !== title) document.title = title;
    const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${color}"/></svg>`;
    const href = `data:image/svg+xml,${encodeURIComponent(picture)}`;
    if (icon !== null && icon.href !== href) icon.href = href;
  });
}
