import logUpdate from 'log-update';

const REDRAW_EVERY_MS = 250;
const LINE_EVERY_MS = 2000;

/** How something is shown while it goes on. `undefined`: there is nothing to show yet. */
export interface Shown {
  /** For a terminal, redrawn in its place. */
  view(): string | undefined;
  /** The same in one line, where there is no terminal to redraw. */
  line(): string | undefined;
}

/** Shows how it goes, several times a second in a terminal. @returns the function that ends it. */
export function display(shown: Shown): () => void {
  const { isTTY } = process.stdout;
  const show = (): void => {
    const text = isTTY ? shown.view() : shown.line();
    if (text === undefined) return;
    if (isTTY) logUpdate(text);
    else console.log(text);
  };
  const timer = setInterval(show, isTTY ? REDRAW_EVERY_MS : LINE_EVERY_MS);
  return () => {
    clearInterval(timer);
    if (isTTY) logUpdate.done();
  };
}
