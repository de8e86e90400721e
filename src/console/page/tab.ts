import { effect } from '@preact/signals';
import { grouped } from '../words.ts';
import { connection, counts } from './state.ts';

/** The worst state, as the tab of the browser shows it. */
interface Tab {
  readonly title: string;
  /** Of the sign, as CSS has it: one that is seen on light and dark tabs. */
  readonly color: string;
}

const NAME = 'tickless console';

/** Pure. @param isGone the console does not answer. */
export function tabOf(isGone: boolean, { bad, warn }: Readonly<Record<'bad' | 'warn', number>>): Tab {
  if (isGone) return { title: `no answer – ${NAME}`, color: '#808890' };
  if (bad > 0) return { title: `${grouped(bad)}: reads fail – ${NAME}`, color: '#d3222f' };
  if (warn > 0) return { title: `${grouped(warn)}: loads fail – ${NAME}`, color: '#e08a00' };
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
