/**
 * Why a request was not made by a page of the console; `undefined`: it was, or by a program other than a browser.
 *
 * @param origin that of the option; `undefined`: that of the URL.
 */
export function crossSiteReason(request: Request, origin: URL | undefined): string | undefined {
  const url = new URL(request.url);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (origin !== undefined && url.host !== origin.host) {
    return `the request is for another host than the option origin (${origin.host})`;
  }
  const site = request.headers.get('sec-fetch-site');
  // In a tab, by a link: a frame navigates too.
  const isLink =
    isRead &&
    request.headers.get('sec-fetch-mode') === 'navigate' &&
    request.headers.get('sec-fetch-dest') === 'document';
  if (site !== null && site !== 'same-origin' && site !== 'none' && !isLink) {
    return 'the request was made by another site';
  }
  const from = request.headers.get('origin');
  if (from === null) return undefined;
  const sender = urlOf(from);
  const isSame = origin === undefined ? sender?.host === url.host : sender?.origin === origin.origin;
  return isSame ? undefined : 'the request was made by a page of another origin';
}

/** `undefined`: the text is not a URL. */
export function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
