import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  firefox,
  type Page,
} from 'playwright-core';

/** The one that runs these tests: `scripts/console.mjs` says which. */
export const BROWSER: 'chromium' | 'firefox' =
  process.env.TICKLESS_BROWSER === 'firefox' ? 'firefox' : 'chromium';

type ColorScheme = 'light' | 'dark';

const launched: Map<ColorScheme, Promise<Browser>> = new Map();

/** Launched with the first call. @param colorScheme of the pages to be opened: Firefox has one for all, Chromium one for each. */
export function browserFor(colorScheme: ColorScheme = 'light'): Promise<Browser> {
  const own = BROWSER === 'firefox' ? colorScheme : 'light';
  const browser = launched.get(own) ?? (BROWSER === 'firefox' ? launchFirefox(own) : launchChromium());
  launched.set(own, browser);
  return browser;
}

export async function closeBrowsers(): Promise<void> {
  for (const browser of launched.values()) await (await browser).close();
}

/** Debian's, unless told otherwise. */
function launchChromium(): Promise<Browser> {
  // Root has no sandbox of its own; a container has a small /dev/shm.
  return chromium.launch({
    executablePath: process.env.TICKLESS_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** Likewise. By WebDriver BiDi, as it is: not a build of Playwright's own. */
function launchFirefox(colorScheme: ColorScheme): Promise<Browser> {
  return firefox.launch({
    channel: 'moz-firefox',
    executablePath: process.env.TICKLESS_FIREFOX ?? '/usr/bin/firefox-esr',
    firefoxUserPrefs: {
      'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1,
    },
  });
}

/** A page that fails the test when it breaks its policy, throws, or asks for anything elsewhere. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong. */
  readonly wrong: string[];
}

export async function openPage(
  url: string,
  options: BrowserContextOptions & { readonly colorScheme?: ColorScheme } = {},
): Promise<Watched> {
  const browser = await browserFor(options.colorScheme);
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong: string[] = [];
  const origin = new URL(url).origin;
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (line) => {
    if (line.type() === 'error' && !line.text().includes('Failed to load resource')) wrong.push(line.text());
  });
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(origin) && !asked.startsWith('data:')) wrong.push(`asked for ${asked}`);
  });
  await page.goto(url);
  return { page, context, wrong };
}

/** An event of a trace, as far as it is read. Microseconds; `tdur` is the time of the processor. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ph: string;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * The tasks of the page's main thread while an action runs. Their length is the time of the processor, so that other
 * processes of the machine do not count. Of Chromium only.
 *
 * @returns those over 50 ms, in milliseconds, and how many there were.
 */
export async function tasksDuring<T>(
  page: Page,
  action: () => Promise<T>,
): Promise<{ readonly result: T; readonly long: readonly number[]; readonly count: number }> {
  const browser = await browserFor();
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  const result = await action();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const events = trace.traceEvents;
  const main = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ name, ph, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && main.has(`${pid} ${tid}`),
  );
  const lengths = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return { result, long: lengths.filter((ms) => ms > 50), count: lengths.length };
}
