import { pageText } from './page-text.ts';

/** A file that is served as it is. */
interface Asset {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
}

const asset = (type: string, { text, hash }: { readonly text: string; readonly hash: string }): Asset => ({
  type: `${type}; charset=utf-8`,
  text,
  etag: `"${hash}"`,
});

/** The page and what it loads, by path. */
export const assets: { readonly [path: string]: Asset | undefined } = {
  __proto__: null as never,
  '': asset('text/html', pageText.html),
  'app.js': asset('text/javascript', pageText.script),
  'app.css': asset('text/css', pageText.style),
};
