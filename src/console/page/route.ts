import { type Signal, signal } from '@preact/signals';

/** The part of the page that is shown: the fragment of the address, so that a link to it works. */
export type Route =
  | { readonly page: 'members' | 'locks' | 'audit' }
  | { readonly page: 'member'; readonly id: string; readonly key?: string };

export const route: Signal<Route> = signal(routeOf(location.hash));

export function followRoute(): void {
  addEventListener('hashchange', () => {
    route.value = routeOf(location.hash);
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('main h1')?.focus();
  });
}

export function memberLink(id: string, key?: string): string {
  const parts = ['member', encodeURIComponent(id), ...(key === undefined ? [] : [encodeURIComponent(key)])];
  return `#/${parts.join('/')}`;
}

function routeOf(hash: string): Route {
  const [page, id, key] = hash.slice(2).split('/').map(decoded);
  if (page === 'member' && id !== undefined) return { page, id, ...(key === undefined ? {} : { key }) };
  return { page: page === 'locks' || page === 'audit' ? page : 'members' };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
